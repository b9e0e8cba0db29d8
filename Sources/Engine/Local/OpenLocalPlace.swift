import Concurrency
import Foundation
import Pipeline
import Results
import Sandbox
import SystemPackage

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// The machine of the daemon while the steps of a run are run on it.
struct OpenLocalPlace: OpenPlace {
    private let place: LocalPlace
    private let quota: RunQuota
    private let hosts: StepHosts
    /// The run's thread; nil if the system could not create one.
    private let loop: StepLoop?
    let begunAt = FileStamp.now

    init(place: LocalPlace, quota: RunQuota, loop: StepLoop?) {
        (self.place, self.quota, self.loop) = (place, quota, loop)
        let hosts = StepHosts(place: place, group: quota.group)
        quota.watch { [weak hosts] in hosts?.processes ?? [] }
        self.hosts = hosts
    }

    /// Ends all processes; returns false if one may still be alive. It blocks.
    func close() -> Bool {
        defer { quota.close() }
        return hosts.close()
    }

    func run(
        _ attempt: StepAttempt, stop: StopSignal, output: @escaping @Sendable (UnsafeRawBufferPointer) -> Void
    ) async throws -> AttemptEnd {
        let own = place.place(of: attempt.step)
        var command = try own.command(of: attempt)
        let allowance = try quota.allowance(of: attempt.step, label: attempt.label)
        defer { allowance.close() }
        command.limits = allowance.processLimits
        command.group = allowance.group
        defer { own.removeSecretsFolder(of: command) }
        let host = hosts.host(for: own.policy(of: attempt.step, hasSecrets: !attempt.secrets.isEmpty), in: own)
        let process = StepProcess(host: host, grace: attempt.grace, launched: place.launched, loop: loop)
        do {
            let end = try await process.run(
                command, timeout: .seconds(attempt.step.timeout), stop: stop, watch: allowance.breach
            ) { bytes in
                allowance.count(output: bytes.count)
                output(bytes)
            }
            return AttemptEnd(
                process: end, limit: end.stopped == nil ? allowance.cause(of: end) : nil,
                survivedLimit: end.exitCode == 0 && end.stopped == nil ? allowance.survivedBreach : nil,
                processLimits: command.limits)
        } catch  where own.workspaceMount?.isThere() == false {
            throw PlaceProblem(
                reason: "the process that holds the run's workspace was killed; rerun",
                mayHaveActed: error as? StepProcessProblem == .lost)
        }
    }

    func files(_ folder: PlaceFolder, of step: PlannedStep) -> any FileSource {
        let own = place.place(of: step)
        let root =
            switch folder {
            case .workspace: own.workspaceView
            case .published(let label): own.published.appending(label)
            }
        return LocalFiles(root: root, links: place.keptLinks)
    }

    func add(value name: String, from file: FilePath) throws {
        // Steps that read the value run as another user where the daemon is root.
        guard chmod(file.string, 0o644) == 0 else { throw Errno(rawValue: errno) }
        try FileManager.default.moveReplacing(file.string, to: place.values.appending("\(name).json").string)
    }

    func discardPublished(by attempt: StepAttempt) {
        try? FolderRemoval.remove(place.place(of: attempt.step).published.appending(attempt.label).string)
    }

    func restore(_ outputs: StoredOutputs, inPlaceOf stale: StaleOutputs) throws {
        let writer = WorkspaceWriter(
            root: place.workspaceView, owner: place.runSandbox?.user, links: place.keptLinks)
        try OutputPack.unpack(outputs.path, sha256: outputs.sha256, inPlaceOf: stale, with: writer)
    }

    func workspacePaths(of step: PlannedStep) -> [FilePath] {
        let own = place.place(of: step)
        return [own.seen(own.workspace), own.workspace, own.workspaceView]
    }
}
