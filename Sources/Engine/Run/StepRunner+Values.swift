import Results
import Foundation
import Pipeline
import SystemPackage

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// What an attempt is told, and the values that it publishes.
extension StepRunner {
    /// An attempt of a step, with the variables and secrets that it is given.
    func attempt(_ number: Int, of step: PlannedStep, label: String) -> StepAttempt {
        var common = setting.environment
        for name in setting.withheld[step.name] ?? [] { common[name] = nil }
        return StepAttempt(
            step: step, number: number, label: label,
            environment: StepAttempt.environment(of: step, number: number, common),
            secrets: setting.secrets.given(to: step), grace: setting.grace)
    }

    /// Takes over the values that a passed step has published.
    ///
    /// Only declared values are taken, from a folder that no other attempt could write to.
    ///
    /// - Returns: If a value is missing or not valid, the status of the step and the reason: its own failure, or the
    ///   machine's.
    func adoptValues(of attempt: StepAttempt) -> (status: StepStatus, reason: String)? {
        var limits = setting.fileLimits
        limits.fileBytes = min(limits.fileBytes, 16 << 20)
        let files = WorkspaceFiles(
            source: place.files(.published(label: attempt.label), of: attempt.step), limits: limits)
        for name in attempt.step.publishes {
            do {
                if let problem = try adoptValue(name, of: attempt.step, from: files) { return problem }
            } catch {
                // A refused value is removed now, so that it is not left at the place until the run ends.
                place.discardPublished(by: attempt)
                return (
                    .failed,
                    "what it published as \"\(name)\" contains secret \(error.secret); publish something else, and "
                        + "declare the secret in the step that needs it"
                )
            }
        }
        return nil
    }

    private func adoptValue(
        _ name: String, of step: PlannedStep, from files: WorkspaceFiles
    ) throws(SecretInValue) -> (status: StepStatus, reason: String)? {
        let temporary = setting.temporaryFile(in: setting.folder)
        defer { _ = temporary.withPlatformString { unlink($0) } }
        do {
            _ = try files.copy("\(name).json", to: temporary, masker: setting.secrets.masker)
        } catch let problem as WorkspaceFileProblem where problem.isMissing {
            let path = "$\(StepVariable.valuesOut)/\(name).json"
            return (.failed, "it declares .publishes(\"\(name)\") but did not publish it: write \(path)")
        } catch {
            let problem = error as? WorkspaceFileProblem
            if let secret = problem?.secret { throw SecretInValue(secret: secret) }
            if let code = problem?.machineError {
                return (.infrastructure, unkept("value \"\(name)\"", of: step, code))
            }
            return (.failed, "what it published as \"\(name)\" can't be read: \(error)")
        }
        guard let data = FileManager.default.contents(atPath: temporary.string) else {
            return (.infrastructure, unkept("value \"\(name)\"", of: step, Errno(rawValue: errno)))
        }
        guard (try? JSONSerialization.jsonObject(with: data, options: .fragmentsAllowed)) != nil
        else { return (.failed, "what it published as \"\(name)\" is not JSON; a text needs quotes") }
        do {
            try place.add(value: name, from: temporary)
        } catch let code as Errno {
            return (.infrastructure, unkept("value \"\(name)\"", of: step, code))
        } catch {
            return (.infrastructure, "its value \"\(name)\" could not be handed on: \(error)")
        }
        return nil
    }
}

/// A published value holds a secret.
private struct SecretInValue: Error {
    let secret: String
}
