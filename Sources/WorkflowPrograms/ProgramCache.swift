import Concurrency
public import Foundation
import Pipeline
public import PlanRules
import Sandbox

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// Compiled workflows, kept by what they were made of: `programs/` of the state folder.
///
/// ```
/// programs/KEY/manifest.json      what it was made of; written last
///          KEY/program            description.json, plans/
///          library-IDENTITY/      a copy of Pipeline, which outlives a new build of pipectl
///          modules-DIGEST/        of the compiler: its own modules, as it keeps them
///          locks/                 one file per key, between processes
///          untrusted/             the same for definitions that nobody trusts: see ``ProgramCache/untrusted``
/// ```
public struct ProgramCache: Sendable {
    /// Absolute.
    public let directory: String
    /// The `Pipeline` module that workflows are compiled against.
    public let library: PipelineLibrary
    /// The Swift compiler.
    public let toolchain: Toolchain
    /// The sandbox of the compiler and of workflow programs.
    public let programSandbox: ProgramSandbox
    /// Limits for compiling and for asking a program.
    public let limits: ProgramLimits

    /// Where the compiler keeps its own modules.
    let modules: String
    let environment: [String: String]
    /// Whether what is compiled here is foreign: then nothing that a compilation writes is read by another one.
    let isUntrusted: Bool
    private let loads = SingleFlight<WorkflowProgram>()

    /// - Parameters:
    ///   - directory: Made when it is missing. Nobody else may write there.
    ///   - modules: Where the compiler keeps its own modules; nil means a folder in `directory`.
    ///   - environment: The variables of this process; the compiler and the programs see a chosen few of them.
    public init(
        directory: String, library: PipelineLibrary, toolchain: Toolchain, programSandbox: ProgramSandbox = .none,
        limits: ProgramLimits = ProgramLimits(), modules: String? = nil,
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) {
        let absolute = URL(fileURLWithPath: directory).standardizedFileURL.path
        self.directory = absolute
        self.library = library
        self.toolchain = toolchain
        self.programSandbox = programSandbox
        self.limits = limits
        // They hold the path they were written to: moved, or read by another compiler, they fail every compilation.
        let identity = FileDigest.of(parts: [absolute, toolchain.swiftc, toolchain.version])
        self.modules = modules ?? "\(absolute)/modules-\(identity.prefix(16))"
        self.environment = environment
        isUntrusted = false
    }

    /// A cache for definitions that nobody has merged yet, in a folder of its own.
    ///
    /// It shares nothing with this one that a compilation or a program could write: entries, library copies, locks; and
    /// each compilation has compiler modules of its own, which go with it. The sandbox is the same; the deadlines are
    /// short, because whoever waits for the answer could do without it.
    public var untrusted: ProgramCache { ProgramCache(untrustedBeside: self) }

    private init(untrustedBeside cache: ProgramCache) {
        directory = "\(cache.directory)/untrusted"
        library = cache.library
        toolchain = cache.toolchain
        programSandbox = cache.programSandbox
        limits = ProgramLimits(
            compile: min(cache.limits.compile, .seconds(60)), package: min(cache.limits.package, .seconds(120)),
            plan: min(cache.limits.plan, .seconds(10)), answer: cache.limits.answer)
        // Not used: see ``ProgramBuild``.
        modules = "\(cache.directory)/untrusted/modules"
        // No ssh agent and no proxy of the user's, also for a package.
        environment = ProgramEnvironment.forCompiler(cache.environment)
        isUntrusted = true
    }

    /// The checked program for these sources: from the cache, else compiled. Those who ask for the same one at
    /// the same time wait for one compilation, in this process and in others.
    ///
    /// - Throws: ``DefinitionError`` for what the author must correct, ``ProgramCacheError`` for what the daemon's
    ///   user must.
    public func program(for sources: WorkflowSources) async throws -> WorkflowProgram {
        let program = try await unchecked(for: sources)
        let findings = program.description.validate()
        guard findings.isEmpty else { throw DefinitionError(findings: findings) }
        return program
    }

    /// The program for a tree that was compiled before; nil means that the sources are needed.
    ///
    /// Warm, a caller need not read the files of `workflows/` at all.
    public func program(keptFor tree: String) throws -> WorkflowProgram? {
        guard let program = try kept(inputs(for: tree)) else { return nil }
        let findings = program.description.validate()
        guard findings.isEmpty else { throw DefinitionError(findings: findings) }
        return program
    }

    /// All that is wrong with the workflows, declarations and plans at once; empty means that they can run.
    ///
    /// Each workflow is planned with a made-up context for each of its triggers.
    /// - Throws: ``DefinitionError`` when they can't be compiled or planned at all.
    public func findings(for sources: WorkflowSources) async throws -> [PlanFinding] {
        let program = try await unchecked(for: sources)
        var findings = program.description.validate()
        var planned: Set<String> = []
        for declaration in program.description.workflows where planned.insert(declaration.name).inserted {
            for context in PlanContext.samples(for: declaration) {
                do {
                    let plan = try await program.plan(workflow: declaration.name, context: context)
                    // One that does not read the context has the same plan for all its triggers.
                    let events = declaration.readsContext ? [context.event] : declaration.triggers.map(\.event)
                    findings += events.flatMap(plan.findings(startedBy:)).filter { !findings.contains($0) }
                } catch let error as DefinitionError where error.code == .invalid {
                    findings += error.findings.filter { !findings.contains($0) }
                }
            }
        }
        return findings
    }

    private func unchecked(for sources: WorkflowSources) async throws -> WorkflowProgram {
        try sources.check()
        let inputs = try inputs(for: sources.tree)
        if let program = kept(inputs) { return program }
        return try await loads.value(for: inputs.key) {
            let locks = "\(directory)/locks"
            try make(folder: locks)
            return try await withProgramLock("\(locks)/\(inputs.key)") {
                // Another process may have made it while this one waited.
                if let program = kept(inputs) { return program }
                return try await ProgramBuild(cache: self, inputs: inputs, sources: sources).run()
            }
        }
    }

    func inputs(for tree: String) throws -> ProgramManifest.Inputs {
        ProgramManifest.Inputs(
            tree: tree, swiftc: toolchain.swiftc, toolchain: toolchain.version, target: toolchain.target,
            library: try library.identity(), cache: directory)
    }

    /// The program of an entry whose every byte is as it was written; nil means: build it.
    func kept(_ inputs: ProgramManifest.Inputs) -> WorkflowProgram? {
        let entry = "\(directory)/\(inputs.key)"
        guard
            let manifest = Self.manifests.value(
                in: "\(entry)/manifest.json", { try? JSONDecoder().decode(ProgramManifest.self, from: $0) }),
            manifest.inputs == inputs,
            !manifest.program.hasPrefix("/"), !manifest.program.split(separator: "/").contains(".."),
            let digest = try? FileDigest.of(file: "\(entry)/\(manifest.program)"), digest == manifest.programDigest,
            access("\(entry)/\(manifest.program)", X_OK) == 0,
            let description = Self.descriptions.value(
                in: "\(entry)/description.json", digest: manifest.descriptionDigest,
                { try? JSONDecoder().decode(ProgramDescription.self, from: $0) }),
            keepsLibrary(of: inputs)
        else { return nil }
        noteUse(of: "\(entry)/manifest.json")
        return program(inputs, executable: "\(entry)/\(manifest.program)", description, in: entry)
    }

    private static let manifests = DecodedFiles<ProgramManifest>()
    private static let descriptions = DecodedFiles<ProgramDescription>()

    /// For ``removeUnused(since:dryRun:)``: this entry is in use. Not at each use, after which it would be read again.
    private func noteUse(of manifest: String) {
        guard let stamp = FileStamp(path: manifest), abs(time(nil) - Int(stamp.modifiedSeconds)) > 600 else { return }
        utimes(manifest, nil)
    }

    func program(
        _ inputs: ProgramManifest.Inputs, executable: String, _ description: ProgramDescription, in entry: String
    ) -> WorkflowProgram {
        WorkflowProgram(
            key: inputs.key, executable: executable, description: description, directory: entry,
            reads: [libraryFolder(inputs)], programSandbox: programSandbox,
            environment: ProgramEnvironment.forProgram(environment), limits: limits)
    }

    /// Whether the cache's copy of the library is whole.
    func keepsLibrary(of inputs: ProgramManifest.Inputs) -> Bool {
        let folder = libraryFolder(inputs)
        let copy = PipelineLibrary(
            module: "\(folder)/Pipeline.swiftmodule", library: "\(folder)/\(PipelineLibrary.fileName)")
        return (try? copy.identity()) == inputs.library
    }

    func libraryFolder(_ inputs: ProgramManifest.Inputs) -> String { "\(directory)/library-\(inputs.library)" }

    func make(folder: String) throws {
        do {
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        } catch {
            throw ProgramCacheError(.storage, "\(folder) can't be made: \(error)")
        }
    }
}

/// Which variables the compiler and the programs see: none that could hold a secret.
enum ProgramEnvironment {
    private static let program = ["PATH", "HOME", "TMPDIR", "LANG", "LC_ALL", "LIBDISPATCH_LOG"]
    private static let compiler =
        program + ["DEVELOPER_DIR", "SDKROOT", "TOOLCHAINS", "SWIFTLY_HOME_DIR", "SWIFTLY_BIN_DIR"]
    /// `swift build` also fetches: with the user's own proxies and ssh agent.
    private static let package =
        compiler + [
            "SSH_AUTH_SOCK", "http_proxy", "https_proxy", "no_proxy", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY",
            "XDG_CACHE_HOME", "XDG_CONFIG_HOME",
        ]

    static func forProgram(_ all: [String: String]) -> [String: String] { all.filter { program.contains($0.key) } }
    static func forCompiler(_ all: [String: String]) -> [String: String] { all.filter { compiler.contains($0.key) } }
    static func forPackage(_ all: [String: String]) -> [String: String] { all.filter { package.contains($0.key) } }
}
