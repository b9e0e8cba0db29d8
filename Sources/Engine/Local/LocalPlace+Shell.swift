package import Pipeline
package import Sandbox

import SystemPackage

extension LocalPlace {
    /// Prepares folders and mounts for a command that a person runs in a workspace. The workspace must exist.
    ///
    /// - Parameters:
    ///   - environment: The variables of every step of the run.
    ///   - words: The command and its arguments; no shell is involved.
    /// - Throws: `Errno` if a folder can't be created or its owner can't be changed.
    package func shell(
        for step: PlannedStep, of plan: Plan, environment: [String: String], command words: [String]
    ) throws -> OpenedStep {
        try makeFolders()
        try prepareSandbox(for: plan)
        var bare = step
        // The command gets no secrets and publishes no values, so variables that name files for them would mislead.
        (bare.secrets, bare.publishes) = ([], [])
        let prepared = try command(
            of: StepAttempt(
                step: bare, number: 1, label: "open-\(UInt32.random(in: 0 ... .max))",
                environment: StepAttempt.environment(of: bare, number: 1, environment), grace: .zero))
        guard let runSandbox else {
            return OpenedStep(
                words: [stepInit.string, "--chdir", prepared.workingDirectory.string, "--"] + words,
                environment: prepared.environment)
        }
        let caches = runSandbox.caches.sorted { $0.key < $1.key }.map(\.value)
        let inside = runSandbox.sandbox.command(
            policy(of: bare, hasSecrets: false), mounts: ownMounts + runSandbox.mounts + caches, user: runSandbox.user,
            lifetime: .withTerminal, directory: prepared.workingDirectory.string, words)
        return OpenedStep(
            words: (workspaceMount?.enter ?? []) + inside, environment: prepared.environment)
    }
}
