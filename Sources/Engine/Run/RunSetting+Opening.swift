public import Pipeline
public import Sandbox

import SystemPackage

extension RunSetting {
    /// Prepares folders and mounts for a command that a person runs in a workspace. The workspace must exist.
    ///
    /// - Parameter command: The command and its arguments; no shell is involved.
    /// - Throws: `Errno` if a folder can't be created or its owner can't be changed.
    public func open(_ step: PlannedStep, of plan: Plan, command: [String]) throws -> OpenedStep {
        try makeFolders(for: plan)
        try prepareSandbox(for: plan)
        var bare = step
        // The command gets no secrets and publishes no values, so variables that name files for them would mislead.
        (bare.secrets, bare.publishes) = ([], [])
        let runner = Runner(setting: self, pool: SlotPool(slots: 1, capacities: [:])) { _ in }
        let prepared = try runner.prepare(
            bare, attempt: 1, published: published.appending("open-\(UInt32.random(in: 0 ... .max))"))
        guard let runSandbox else {
            return OpenedStep(
                words: [stepInit.string, "--chdir", prepared.workingDirectory.string, "--"] + command,
                environment: prepared.environment)
        }
        let caches = runSandbox.caches.sorted { $0.key < $1.key }.map(\.value)
        let inside = runSandbox.sandbox.command(
            policy(of: bare, hasSecrets: false), mounts: ownMounts + runSandbox.mounts + caches, user: runSandbox.user,
            lifetime: .withTerminal, directory: prepared.workingDirectory.string, command)
        return OpenedStep(
            words: (workspaceMount?.enter ?? []) + inside, environment: prepared.environment)
    }
}
