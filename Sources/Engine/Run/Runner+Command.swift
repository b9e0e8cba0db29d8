import Results
import Foundation
import Pipeline
import Sandbox
import SystemPackage

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// Prepares the command of a step, and takes over the values that it published.
extension Runner {
    func prepare(_ step: PlannedStep, attempt: Int, published: FilePath) throws -> StepCommand {
        var folder = setting.workspace
        if let relative = step.workingDirectory { folder = folder.appending(relative) }
        var environment = setting.environment
        for name in setting.withheld[step.name] ?? [] { environment[name] = nil }
        environment.merge(step.environment) { _, new in new }
        environment["PIPECTL_STEP"] = step.name
        environment[StepVariable.workspace] = setting.seen(setting.workspace).string
        environment[StepVariable.attempt] = String(attempt)
        environment[StepVariable.valuesIn] = setting.seen(setting.values).string
        if let runSandbox = setting.runSandbox {
            environment["HOME"] = setting.seen(setting.home).string
            environment["TMPDIR"] = setting.seen(setting.temporary).string
            environment["USER"] = "pipectl"
            environment["LOGNAME"] = "pipectl"
            for (name, cache) in runSandbox.caches where step.caches.contains(where: { $0.name == name }) {
                environment[StepVariable.cache(name)] = Sandbox.hasMounts ? cache.target : cache.source
            }
        }
        // Programs choose colours by the terminal type; `pipectl logs` and the pages understand this one.
        if step.hasTerminal { environment["TERM"] = environment["TERM"] ?? "xterm-256color" }
        // A step that publishes nothing needs no folder for it.
        if !step.publishes.isEmpty || step.action == .closure || step.review != nil {
            // The folder must be new: a step that runs as our own user could have put a link in its place.
            guard mkdir(published.string, 0o700) == 0 else { throw Errno(rawValue: errno) }
            if let user = setting.runSandbox?.user { try Ownership.give(published.string, to: user) }
            environment[StepVariable.valuesOut] = setting.seen(published).string
        }
        if step.review != nil {
            environment["PIPECTL_REVIEW_PROMPT"] =
                setting.seen(setting.values.appending(ReviewInput.promptName(step.name))).string
            environment["PIPECTL_REVIEW_EARLIER"] =
                setting.seen(setting.values.appending(ReviewInput.dataName(step.name))).string
        }
        let seenFolder = setting.seen(folder)
        let arguments: [String]
        switch step.action {
        case .shell(let line): arguments = ["/bin/sh", "-ec", line]
        case .command(let words): arguments = words
        case .closure: arguments = setting.closureCommand(step.name)
        // Never reached: such a step waits in ``awaitApproval(of:_:)`` and starts no process.
        case .approval: arguments = ["true"]
        }
        var command = StepCommand(
            arguments: arguments, workingDirectory: seenFolder, environment: environment,
            hasTerminal: step.hasTerminal)
        if setting.secrets.areGiven(to: step) { command.secretsFolder = try setting.makeSecretsFolder() }
        setting.secrets.handOver(to: &command, of: step)
        return command
    }

    /// Takes over the values that a passed step has published.
    ///
    /// Only declared values are taken, from a folder that no other attempt could write to.
    ///
    /// - Returns: If a value is missing or not valid, the status of the step and the reason: its own failure, or the
    ///   machine's.
    func adoptValues(of step: PlannedStep, from published: FilePath) -> (status: StepStatus, reason: String)? {
        var limits = setting.fileLimits
        limits.fileBytes = min(limits.fileBytes, 16 << 20)
        let files = WorkspaceFiles(root: published, limits: limits)
        for name in step.publishes {
            let target = setting.values.appending("\(name).json")
            let temporary = setting.values.appending(".\(UInt64.random(in: .min ... .max))")
            defer { _ = temporary.withPlatformString { unlink($0) } }
            do {
                _ = try files.copy("\(name).json", to: temporary, masker: setting.secrets.masker)
            } catch let problem as WorkspaceFileProblem where problem.isMissing {
                let place = "$\(StepVariable.valuesOut)/\(name).json"
                return (.failed, "it declares .publishes(\"\(name)\") but did not publish it: write \(place)")
            } catch let problem as WorkspaceFileProblem where problem.secret != nil {
                // The file is removed now, so that a refused value is not left in the state folder until the run ends.
                _ = published.appending("\(name).json").withPlatformString { unlink($0) }
                return (
                    .failed,
                    "what it published as \"\(name)\" contains secret \(problem.secret ?? ""); publish something else, "
                        + "and declare the secret in the step that needs it"
                )
            } catch let problem as WorkspaceFileProblem where problem.machineError != nil {
                return (.infrastructure, unkept("value \"\(name)\"", of: step, problem.machineError ?? .ioError))
            } catch {
                return (.failed, "what it published as \"\(name)\" can't be read: \(error)")
            }
            guard let data = FileManager.default.contents(atPath: temporary.string) else {
                return (.infrastructure, unkept("value \"\(name)\"", of: step, Errno(rawValue: errno)))
            }
            guard (try? JSONSerialization.jsonObject(with: data, options: .fragmentsAllowed)) != nil
            else { return (.failed, "what it published as \"\(name)\" is not JSON; a text needs quotes") }
            do {
                // Steps that read the value run as another user where the daemon is root.
                guard chmod(temporary.string, 0o644) == 0 else { throw Errno(rawValue: errno) }
                try FileManager.default.moveReplacing(temporary.string, to: target.string)
            } catch {
                return (.infrastructure, unkept("value \"\(name)\"", of: step, error as? Errno ?? .ioError))
            }
        }
        return nil
    }
}
