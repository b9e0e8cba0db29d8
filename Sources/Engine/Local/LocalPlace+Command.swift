import Pipeline
import Sandbox
import SystemPackage

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

extension LocalPlace {
    /// The command of an attempt, with the folder that it publishes in and the one for its secrets.
    ///
    /// - Throws: `Errno` if one of them can't be created.
    func command(of attempt: StepAttempt) throws -> StepCommand {
        let step = attempt.step
        var environment = attempt.environment
        environment.merge(try variables(of: attempt)) { _, own in own }
        let arguments: [String]
        switch step.action {
        case .shell(let line): arguments = ["/bin/sh", "-ec", line]
        case .command(let words): arguments = words
        case .closure: arguments = closureCommand(step.name)
        // Never reached: such a step starts no process.
        case .approval, .release, .publish: arguments = ["true"]
        }
        var command = StepCommand(
            arguments: arguments,
            workingDirectory: seen(step.workingDirectory.map { workspace.appending($0) } ?? workspace),
            environment: environment, hasTerminal: step.hasTerminal)
        if !attempt.secrets.isEmpty { command.secretsFolder = try makeSecretsFolder() }
        for secret in attempt.secrets {
            switch secret.content {
            case .text(let value): command.environment[secret.variable] = value
            case .file(let file):
                command.secrets.append(file)
                command.environment[secret.variable] = command.secretsFolder.appending(file.name).string
            }
        }
        return command
    }

    /// The variables that name paths of this machine.
    private func variables(of attempt: StepAttempt) throws -> [String: String] {
        let step = attempt.step
        var variables = [
            StepVariable.workspace: seen(workspace).string, StepVariable.valuesIn: seen(values).string,
        ]
        if let runSandbox {
            variables["HOME"] = seen(home).string
            variables["TMPDIR"] = seen(temporary).string
            variables["USER"] = "pipectl"
            variables["LOGNAME"] = "pipectl"
            for (name, cache) in runSandbox.caches where step.caches.contains(where: { $0.name == name }) {
                variables[StepVariable.cache(name)] = Sandbox.hasMounts ? cache.target : cache.source
            }
        }
        // A step that publishes nothing needs no folder for it.
        if attempt.publishes {
            let published = published.appending(attempt.label)
            // The folder must be new: a step that runs as our own user could have put a link in its place.
            guard mkdir(published.string, 0o700) == 0 else { throw Errno(rawValue: errno) }
            if let user = runSandbox?.user { try Ownership.give(published.string, to: user) }
            variables[StepVariable.valuesOut] = seen(published).string
        }
        if let name = attempt.tests {
            variables[StepVariable.testsFile] = seen(values.appending("\(name).json")).string
        }
        if step.review != nil {
            variables["PIPECTL_REVIEW_PROMPT"] = seen(values.appending(ReviewInput.promptName(step.name))).string
            variables["PIPECTL_REVIEW_EARLIER"] = seen(values.appending(ReviewInput.dataName(step.name))).string
        }
        return variables
    }
}
