import Results
import Foundation
import Pipeline
import Sandbox

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// Builds one entry of the ``ProgramCache``. The caller holds the key's lock.
struct ProgramBuild {
    let cache: ProgramCache
    let inputs: ProgramManifest.Inputs
    let sources: WorkflowSources

    private var entry: String { "\(cache.directory)/\(inputs.key)" }
    private var libraryFolder: String { cache.libraryFolder(inputs) }

    func run() async throws -> WorkflowProgram {
        do {
            try keepLibrary()
            return try await sources.isPackage ? package() : compile()
        } catch let error as CocoaError {
            let full = error.code == .fileWriteOutOfSpace
            throw ProgramCacheError(full ? .diskFull : .storage, "a compiled workflow can't be stored: \(error)")
        }
    }

    // MARK: - swiftc

    private func compile() async throws -> WorkflowProgram {
        let folder = try ScratchFolder(named: "building", in: cache.directory)
        defer { folder.remove() }
        try write(sources.direct, to: folder.path)
        // Modules that the compiler wrote for an untrusted source must not be read when a trusted one is compiled.
        let modules = cache.isUntrusted ? "\(folder.path)/modules" : cache.modules
        var command = [
            cache.toolchain.swiftc, "-swift-version", "6", "-parse-as-library",
            // Lower case, so that #fileID is the file's path in the repository: "workflows/test.swift".
            "-module-name", "workflows",
            // One frontend job for all files, no optimiser: the fastest way for a program that runs for milliseconds.
            "-Onone", "-wmo", "-module-cache-path", modules, "-I", libraryFolder, "-L", libraryFolder, "-lPipeline",
            "-Xlinker", "-rpath", "-Xlinker", libraryFolder, "-o", "program",
        ]
        command += sources.direct.map(\.path)
        func run() async throws -> ExternalCommandResult {
            try cache.make(folder: modules)
            return try await cache.programSandbox.run(
                ProgramLaunch(
                    .compile, command, in: folder.path, writes: [folder.path, modules], reads: [libraryFolder]),
                environment: ProgramEnvironment.forCompiler(cache.environment), deadline: cache.limits.compile)
        }
        func runTwice() async throws -> ExternalCommandResult {
            removeLocks(in: modules)
            let result = try await run()
            guard !result.succeeded, result.text.contains(modules) else { return result }
            // The compiler rejects its own cached modules: a crash or a full disk has left an incomplete file there.
            try? FileManager.default.removeItem(atPath: modules)
            return try await run()
        }
        // Only one compiler at a time writes the cached modules: as root each runs as another user, which owns them
        // meanwhile.
        let result =
            cache.isUntrusted
            ? try await runTwice()
            : try await withProgramLock("\(cache.directory)/locks/modules") { try await runTwice() }
        try check(result, limit: cache.limits.compile, hiding: folder.path)
        try FileManager.default.removeItem(atPath: "\(folder.path)/workflows")
        if cache.isUntrusted { try? FileManager.default.removeItem(atPath: modules) }
        let description = try await describe("\(folder.path)/program", in: folder.path)
        try seal(folder.path, program: "program", description)
        // An entry that exists is broken, or this build would not have been started.
        let old = "\(cache.directory)/broken-\(UInt64.random(in: .min ... .max))"
        if rename(entry, old) == 0 { try? FileManager.default.removeItem(atPath: old) }
        guard rename(folder.path, entry) == 0 else { throw ProgramCacheError(path: entry, errno: errno) }
        return cache.program(inputs, executable: "\(entry)/program", description, in: entry)
    }

    /// Removes locks of a killed compiler, for which the next compiler would wait for minutes.
    ///
    /// A lock names its owner by host and process id. In a sandbox both are the same for every compiler, so a dead
    /// owner always looks alive. The caller must be the only user of the folder.
    private func removeLocks(in modules: String) {
        let names = FileManager.default.enumerator(atPath: modules)
        while let name = names?.nextObject() as? String {
            if name.contains(".lock") { unlink("\(modules)/\(name)") }
        }
    }

    // MARK: - SwiftPM

    /// A package is built in its final folder, because the program may use bundles and libraries of it by absolute
    /// path.
    private func package() async throws -> WorkflowProgram {
        // An earlier build could write here: a link that it left would redirect our own writes.
        try FolderRemoval.remove(entry)
        do {
            return try await packageInFreshEntry()
        } catch {
            try? FolderRemoval.remove(entry)
            throw error
        }
    }

    private func packageInFreshEntry() async throws -> WorkflowProgram {
        guard mkdir(entry, 0o700) == 0 else { throw ProgramCacheError(path: entry, errno: errno) }
        try write(sources.files, to: entry)
        let folder = "\(entry)/workflows"
        let name = try await executableName(folder)
        var command = [
            cache.toolchain.swift, "build", "--product", name, "--scratch-path", "\(entry)/build",
            "-Xswiftc", "-I\(libraryFolder)", "-Xlinker", "-L\(libraryFolder)", "-Xlinker", "-lPipeline",
            "-Xlinker", "-rpath", "-Xlinker", libraryFolder,
        ]
        let result = try await swiftPM(command, in: folder)
        try check(result, limit: cache.limits.package, hiding: entry)
        command.append("--show-bin-path")
        let shown = try await swiftPM(command, in: folder)
        let binary = "\(lastLine(shown.text))/\(name)"
        let real = resolved(entry) ?? entry
        guard shown.succeeded, let path = resolved(binary), path.hasPrefix(real + "/") else {
            throw DefinitionError(
                .compileFailed,
                "workflows/Package.swift was built, but its program \"\(name)\" is missing from the build folder",
                output: shown.text)
        }
        let program = String(path.dropFirst(real.count + 1))
        // The files of the entry that the daemon itself writes. Nothing that could write to the build is running any
        // more.
        for name in ["manifest.json", "description.json", "plans"] { try FolderRemoval.remove("\(entry)/\(name)") }
        let description = try await describe("\(entry)/\(program)", in: entry)
        try seal(entry, program: program, description)
        return cache.program(inputs, executable: "\(entry)/\(program)", description, in: entry)
    }

    private struct Described: Decodable {
        struct Product: Decodable {
            struct Kind: Decodable {
                var isExecutable: Bool
                init(from decoder: any Decoder) throws {
                    isExecutable = try decoder.container(keyedBy: Name.self).allKeys.contains {
                        $0.stringValue == "executable"
                    }
                }
                struct Name: CodingKey {
                    var stringValue: String
                    var intValue: Int? { nil }
                    init?(stringValue: String) { self.stringValue = stringValue }
                    init?(intValue: Int) { nil }
                }
            }
            var name: String
            var type: Kind
        }
        var products: [Product]
    }

    private func executableName(_ folder: String) async throws -> String {
        let result = try await swiftPM(
            [
                cache.toolchain.swift, "package", "--scratch-path", "\(entry)/build", "describe", "--type", "json",
            ], in: folder)
        try check(result, limit: cache.limits.package, hiding: entry)
        // Progress and warnings come on standard error, which is in the same stream, before the answer.
        let text = result.text
        let json = text.range(of: "{\n").map { String(text[$0.lowerBound...]) } ?? text
        guard let package = try? JSONDecoder().decode(Described.self, from: Data(json.utf8)) else {
            throw DefinitionError(
                .compileFailed, "SwiftPM can't describe workflows/Package.swift", output: shown(text, hiding: entry))
        }
        let programs = package.products.filter(\.type.isExecutable).map(\.name)
        guard let name = programs.first, programs.count == 1 else {
            let found = programs.isEmpty ? "none" : programs.joined(separator: ", ")
            throw DefinitionError(
                .noEntryPoint,
                "workflows/Package.swift must have one executable product, whose @main type is a WorkflowSet; it has: \(found)"
            )
        }
        return name
    }

    private func swiftPM(_ command: [String], in folder: String) async throws -> ExternalCommandResult {
        try await cache.programSandbox.run(
            ProgramLaunch(
                cache.isUntrusted ? .untrustedPackage : .package, command, in: folder, writes: [entry],
                reads: [libraryFolder]),
            environment: ProgramEnvironment.forPackage(cache.environment), deadline: cache.limits.package)
    }

    // MARK: - Both

    private func write(_ files: [WorkflowFile], to folder: String) throws {
        for file in files {
            let path = "\(folder)/\(file.path)"
            try cache.make(folder: path.split(separator: "/").dropLast().reduce("") { "\($0)/\($1)" })
            try Data(file.bytes).write(to: URL(fileURLWithPath: path))
            if file.isExecutable { chmod(path, 0o755) }
        }
    }

    private func describe(_ program: String, in folder: String) async throws -> ProgramDescription {
        let description: ProgramDescription = try await ProgramAnswer(
            executable: program, reads: [folder, libraryFolder], programSandbox: cache.programSandbox,
            environment: ProgramEnvironment.forProgram(cache.environment), limits: cache.limits
        ).ask(.describe)
        guard description.formatVersion == Plan.formatVersion else {
            throw DefinitionError(
                .badAnswer,
                "the workflow program answers in format \(description.formatVersion), this pipectl reads "
                    + "\(Plan.formatVersion). Does workflows/ have its own Pipeline library? Use pipectl's.")
        }
        return description
    }

    /// Writes the files that make an entry valid; the manifest comes last.
    private func seal(_ folder: String, program: String, _ description: ProgramDescription) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys]
        let answer = try encoder.encode(description)
        try answer.write(to: URL(fileURLWithPath: "\(folder)/description.json"), options: .atomic)
        let manifest = ProgramManifest(
            inputs: inputs, program: program, programDigest: try FileDigest.of(file: "\(folder)/\(program)"),
            descriptionDigest: FileDigest.of(answer))
        try encoder.encode(manifest).write(to: URL(fileURLWithPath: "\(folder)/manifest.json"), options: .atomic)
    }

    /// Copies this pipectl's library, so that building a new pipectl does not change it under programs that run.
    private func keepLibrary() throws {
        if cache.keepsLibrary(of: inputs) { return }
        try cache.make(folder: cache.directory)
        let folder = try ScratchFolder(named: "copying", in: cache.directory)
        defer { folder.remove() }
        let files = FileManager.default
        try files.copyItem(atPath: cache.library.library, toPath: "\(folder.path)/\(PipelineLibrary.fileName)")
        try files.copyItem(atPath: cache.library.module, toPath: "\(folder.path)/Pipeline.swiftmodule")
        if rename(folder.path, libraryFolder) == 0 { return }
        guard errno == ENOTEMPTY || errno == EEXIST || errno == ENOTDIR else {
            throw ProgramCacheError(path: libraryFolder, errno: errno)
        }
        // The build of another key was first, and its copy is as good; or a broken copy exists.
        if cache.keepsLibrary(of: inputs) { return }
        let broken = "\(cache.directory)/broken-\(UInt64.random(in: .min ... .max))"
        if rename(libraryFolder, broken) == 0 { try? files.removeItem(atPath: broken) }
        guard rename(folder.path, libraryFolder) == 0 || cache.keepsLibrary(of: inputs) else {
            throw ProgramCacheError(path: libraryFolder, errno: errno)
        }
    }

    private func check(_ result: ExternalCommandResult, limit: Duration, hiding folder: String) throws {
        if result.succeeded { return }
        let output = shown(result.text, hiding: folder)
        switch result.ending {
        case .deadline:
            throw DefinitionError(
                .compileTimedOut,
                "compiling the workflows took longer than \(limit.inWords). An expression may be hard to type-check. "
                    + "Split it into parts with names and types.", output: output)
        case .signal(let signal):
            throw DefinitionError(.compileFailed, "the compiler crashed (signal \(signal))", output: output)
        case .exited: break
        }
        if output.contains("No space left on device") {
            throw ProgramCacheError(
                .diskFull,
                "the disk was full while the workflows were compiled. Free space; `pipectl gc` removes old runs.",
                output: output)
        }
        if output.contains("module compiled with") || output.contains("module file was created by") {
            throw ProgramCacheError(
                .otherToolchain,
                "\(cache.toolchain.swiftc) is not the Swift version that built this pipectl. Build pipectl with it, "
                    + "or set PIPECTL_SWIFTC to the version that built it.", output: output)
        }
        // GNU ld and gold, lld, Apple's ld.
        let missingMain = [
            "reference to 'main'", "reference to `main'", "undefined symbol: main", "\"_main\", referenced",
        ]
        if missingMain.contains(where: output.contains) {
            throw DefinitionError(
                .noEntryPoint,
                "no file in workflows/ has the entry point. Add this line to one of them: "
                    + "@main struct Workflows: WorkflowSet { static let workflows = [test] }", output: output)
        }
        throw DefinitionError(.compileFailed, "the workflows do not compile:", output: output)
    }

    /// The compiler's output, with the paths of the repository in place of temporary ones.
    private func shown(_ text: String, hiding folder: String) -> String {
        var text = text
        for path in [resolved(folder), folder].compactMap({ $0 }) {
            text = text.replacing("\(path)/", with: "")
        }
        return text
    }

    private func resolved(_ path: String) -> String? {
        guard let real = realpath(path, nil) else { return nil }
        defer { free(real) }
        return String(cString: real)
    }

    private func lastLine(_ text: String) -> String {
        text.split(whereSeparator: \.isNewline).last.map(String.init) ?? ""
    }
}
