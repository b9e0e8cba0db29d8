import Workspaces
import ArgumentParser
import Client
import Engine
import Foundation
import WorkflowPrograms
import ProjectSetup
import SystemCalls
import TerminalText
import StateFiles

struct Init: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "init",
        abstract: "Writes a repository's first two workflows: test and release.",
        discussion: """
            Detects the projects in the repository (Swift packages, Xcode, CMake, Meson, Autotools, Make, Cargo, Go, npm, \
            Python, Gradle, Maven; also several of them) and writes workflows that build and test them. If it finds no \
            tests, it writes nothing and names what is missing.
            """)

    @Argument(help: .hidden) var path: String?
    @OptionGroup var folder: FolderOption
    @Option(help: "The target branch of changes. Default: found from the repository's refs.")
    var branch: String?
    @Option(
        help: ArgumentHelp("The test command, run by /bin/sh. Default: found from the project.", valueName: "command"))
    var test: String?
    @Flag(help: "If no tests are found, write a step that fails until you fill it in.")
    var placeholder = false
    @OptionGroup var state: StateOptions

    func validate() throws {
        if test != nil && placeholder { throw ValidationError("--test and --placeholder exclude each other") }
        if test?.allSatisfy(\.isWhitespace) == true { throw ValidationError("--test takes a command") }
    }

    func run() async throws {
        let directory = try folder.path(or: path)
        var project = SeedProject(directory: directory)
        do {
            guard project.isRepository else {
                throw SeedError.notRepository(directory, top: project.enclosingRepository)
            }
            project.manifest = await manifest(in: directory)
            let source = test.map(SeedWorkflows.Source.command) ?? (placeholder ? .placeholder : .survey)
            let seeds = try SeedWorkflows(for: project, branch: branch, source: source)
            for path in try seeds.write(to: directory) { Terminal.print("wrote \(path)") }
            for line in seeds.remarks(has: ProgramPath.has) { Terminal.say(TerminalText.name(line, limit: 2_000)) }
        } catch let error as SeedError {
            throw CommandEnd(code: 2, message: "\(error)")
        } catch let error as SeedObstacle {
            throw CommandEnd(code: 2, message: "\(error)")
        }
        // Workflows run without this file, so a failure must not stop the command.
        do { try EditorFiles(directory: directory).write() } catch {
            Terminal.say("completion in your editor is not set up: \(error.plainReason)")
        }
        Terminal.say("Read them, then try: pipectl validate, pipectl run test. Commit them, and run: pipectl watch .")
    }

    /// The manifest is code, so SwiftPM reads it in the sandbox if there is one, like a workflow of the working tree.
    private func manifest(in directory: String) async -> PackageManifest? {
        guard FileManager.default.fileExists(atPath: "\(directory)/Package.swift"), let state = try? state.folder(),
            let toolchain = try? await Toolchain.find()
        else { return nil }
        return try? await PackageManifest.read(
            in: directory, toolchain: toolchain, programSandbox: .workingTree(state, toolchain))
    }
}

/// The folders in `PATH`.
enum ProgramPath {
    static func has(_ program: String) -> Bool {
        (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").contains {
            FileManager.default.isExecutableFile(atPath: "\($0)/\(program)")
        }
    }
}
