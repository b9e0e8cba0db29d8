import ArgumentParser
import BuildBox
import Client
import Control
import Foundation
import Git
import Pipeline
import StateFiles
import TestReports

struct Run: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run", abstract: "Runs a workflow on the working tree, a ref, or a change.",
        discussion: """
            Without --ref or --change it runs a copy of the working tree, uncommitted changes included. \
            A running daemon runs it; otherwise this process does, with the same engine. Exits with the \
            verdict's exit code. On a terminal it asks for parameters if a required one has no value.
            """)

    @OptionGroup var state: StateOptions
    @OptionGroup(title: HelpText.daemon) var box: BoxOptionGroup
    @Argument(help: "The workflow's name.")
    var workflow: String
    @Option(help: "The repository.")
    var folder = "."
    @Option(
        help: ArgumentHelp(
            "A watched repository, by its name or URL, instead of the one here; with --ref or --change.",
            valueName: "name"))
    var repository: String?
    @Option(help: "Run this branch, tag or commit instead of the working tree.")
    var ref: String?
    @Option(help: "Run this change, merged with its target.")
    var change: String?
    @Option(name: .customLong("param"), help: ArgumentHelp("A parameter's value.", valueName: "name=value"))
    var parameters: [String] = []
    @Option(name: .customLong("step"), help: "Run only this step and the steps it needs; may be repeated.")
    var steps: [String] = []
    @Option(
        name: .customLong("tests"),
        help: ArgumentHelp(
            "Run only this test, by its name in a report or a part of it, in a step with a test filter; may be repeated.",
            valueName: "suite/name"))
    var tests: [String] = []
    @Flag(
        inversion: .prefixedNo, help: "Skip steps that are proved by an earlier run with the same inputs, or run all.")
    var proofs = true
    @Flag(help: "Start from a fresh workspace instead of a warm one.")
    var clean = false
    @Flag(help: "Print the run's number and return at once; needs a daemon.")
    var detach = false
    @Flag(help: "Print the report as JSON.")
    var json = false

    func validate() throws {
        if tests.count > 200 { throw ValidationError("--tests may be repeated 200 times") }
        if repository != nil && ref == nil && change == nil {
            throw ValidationError("--repository has no working tree here: name what to run with --ref or --change")
        }
        if ref != nil && change != nil { throw ValidationError("--ref and --change exclude each other") }
    }

    func run() async throws {
        let folder = try state.folder()
        let location = WatchedRepository.isRemote(self.folder) ? self.folder : try RunSubject.top(of: self.folder)
        let access = try await DaemonAccess.open(
            folder, purpose: "run \(workflow)", options: box.options(), log: Log.quiet)
        do {
            try await DaemonSettings.check(box.given, access)
            if case .own = access, detach {
                throw CommandEnd(
                    code: 2, message: "--detach needs a running daemon: start `pipectl watch`, or leave it out")
            }
            var request = StartRequest(
                location: location, workflow: workflow,
                subject: try await RunSubject(ref: ref, change: change).resolved(in: location),
                parameters: try ParameterOptions.values(parameters), steps: steps, isForeground: !detach)
            (request.refusesProofs, request.isClean) = (!proofs, clean)
            request.tests = tests.isEmpty ? nil : tests
            request.repository = repository.map(RunSubject.repository)
            if change != nil { request.origin = try? await RunSubject.origin(of: location) }
            request.parameters = try await ParameterDialog.complete(request, access)
            let accepted = RunNumber()
            try await access.ask(.start(request)) { reply in
                if case .accepted(let id, _) = reply { await accepted.set(id) }
            }
            guard let id = await accepted.id else {
                throw CommandEnd(code: 3, message: "the daemon did not accept the run")
            }
            if detach {
                Terminal.print("\(id)")
                return
            }
            let following = Following(access: access, state: folder)
            try await following.conclude(id, following.follow(id), json: json)
        } catch {
            await access.close()
            throw error
        }
    }
}

actor RunNumber {
    private(set) var id: Int64?
    func set(_ id: Int64) { self.id = id }
}

/// How the box of this process works.
struct BoxOptionGroup: ParsableArguments {
    @Option(help: "How many steps run at the same time. Default: the number of processors.")
    var slots: Int?
    @Option(
        name: .customLong("resource"),
        help: ArgumentHelp("The build box's capacity of a named resource.", valueName: "name=count"))
    var resources: [String] = []
    @Option(help: "How many seconds a step may take to end after SIGTERM.")
    var grace = 10
    @Option(
        help: ArgumentHelp(
            "Start no run while less than N MiB (at least 8) are free on the disk of the state folder.",
            valueName: "MiB"))
    var minimumFree = 1024
    @Option(
        help: ArgumentHelp(
            "Disk space for all warm workspaces together; with 0 every run starts from a fresh workspace.",
            valueName: "GiB"))
    var baseLimit = 20
    @Option(help: ArgumentHelp("Keep the first and the last N MiB of each log.", valueName: "MiB"))
    var logLimit = 16
    @OptionGroup(title: HelpText.daemon) var trust: TrustOptions

    @Flag(help: "Where no sandbox is possible, run changes without one, with all rights of this user.")
    var allowUnsandboxed = false
    @Option(help: ArgumentHelp("A folder that steps may read; may be repeated.", valueName: "path"))
    var readable: [String] = []
    @Option(
        help: ArgumentHelp(
            "A folder that steps of merged code may write and other steps may read; may be repeated.", valueName: "path"
        ))
    var writable: [String] = []
    @Option(
        help: ArgumentHelp(
            "A folder that all steps may write, also those of unmerged changes; may be repeated.", valueName: "path"))
    var shared: [String] = []
    @Option(
        name: .customLong("limit"),
        help: ArgumentHelp(
            "A limit for each step: memory, file-size, output or workspace in MiB, cpu-time in seconds, processes, open-files; 0 means no limit.",
            valueName: "name=number"))
    var stepLimits: [String] = []
    @Option(
        name: .customLong("run-limit"),
        help: ArgumentHelp(
            "A limit for each run as a whole: as --limit, and wall-time in seconds.", valueName: "name=number"))
    var runLimits: [String] = []
    @Option(
        name: .customLong("tree-limit"),
        help: ArgumentHelp(
            "A limit for a commit's files, checked before the checkout: entries (files and folders), size or file-size in MiB.",
            valueName: "name=number"))
    var treeLimits: [String] = []

    func validate() throws {
        for path in readable + writable + shared {
            guard path.hasPrefix("/"), path != "/", FileManager.default.fileExists(atPath: path) else {
                throw ValidationError("\"\(path)\" is not the absolute path of an existing folder that steps could see")
            }
        }
        if let slots, !(1...1024).contains(slots) { throw ValidationError("--slots takes 1 to 1024") }
        if grace < 0 || grace > 3600 { throw ValidationError("--grace takes 0 to 3600 seconds") }
        if !(0...1_000_000_000).contains(minimumFree) {
            throw ValidationError("--minimum-free takes 0 to 1000000000 MiB")
        }
        if !(0...1_000_000).contains(baseLimit) { throw ValidationError("--base-limit takes 0 to 1000000 GiB") }
        if !(1...1_000_000).contains(logLimit) { throw ValidationError("--log-limit takes 1 to 1000000 MiB") }
        _ = try capacities()
        var limits = Limits()
        try LimitOptions.apply(stepLimits, to: &limits)
        try LimitOptions.apply(runLimits, to: &limits)
        var trees = TreeLimits()
        try LimitOptions.apply(treeLimits, to: &trees)
    }

    func options() throws -> BoxOptions {
        var options = slots.map { BoxOptions(slots: $0) } ?? BoxOptions()
        options.capacities = try capacities()
        options.grace = .seconds(grace)
        options.minimumFreeBytes = minimumFree << 20
        options.logBytes = logLimit << 20
        options.baseBytes = baseLimit << 30
        options.allowsUnsandboxed = allowUnsandboxed
        (options.readable, options.writable, options.shared) = (readable, writable, shared)
        try LimitOptions.apply(stepLimits, to: &options.stepLimits)
        try LimitOptions.apply(runLimits, to: &options.runLimits)
        try LimitOptions.apply(treeLimits, to: &options.treeLimits)
        options.trust = try trust.policy()
        options.settings = given
        return options
    }

    /// The options that were given, as they were typed; an option with its default value counts as not given.
    var given: [String: [String]] {
        var given: [String: [String]] = [:]
        func add(_ name: String, _ value: Int, _ standard: Int) { if value != standard { given[name] = ["\(value)"] } }
        if let slots { given["slots"] = ["\(slots)"] }
        add("grace", grace, 10)
        add("minimum-free", minimumFree, 1024)
        add("base-limit", baseLimit, 20)
        add("log-limit", logLimit, 16)
        if allowUnsandboxed { given["allow-unsandboxed"] = [""] }
        for (name, values) in [
            ("resource", resources), ("readable", readable), ("writable", writable), ("shared", shared),
            ("limit", stepLimits), ("run-limit", runLimits), ("protected", trust.protected),
            ("allow-authors", trust.allowedAuthors), ("protect-paths", trust.protectedPaths),
        ] where !values.isEmpty {
            given[name] = values
        }
        return given
    }

    private func capacities() throws -> [String: Int] {
        try ParameterOptions.values(resources).mapValues { text in
            guard let count = Int(text), count > 0 else {
                throw ValidationError("--resource takes name=count, count from 1")
            }
            return count
        }
    }
}
