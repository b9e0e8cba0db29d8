import Masking
import Results
import Foundation
import Pipeline
import SystemPackage

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// Collects the artifacts of a step.
extension StepRunner {
    func collectArtifacts(of step: PlannedStep, into outcome: inout StepOutcome) {
        let files = WorkspaceFiles(source: place.files(.workspace, of: step), limits: setting.fileLimits)
        var found = CollectedArtifacts()
        for pattern in step.artifacts {
            guard let glob = try? Glob(pattern) else { continue }
            let search = files.matching([glob])
            found.problems += search.problems
            if let gap = search.gap, let code = gap.machineError {
                found.machineProblem = found.machineProblem ?? unkept("artifact \(gap.path)", of: step, code)
                continue
            }
            if search.matches.isEmpty && search.problems.isEmpty {
                found.problems.append(
                    "no file matches the artifact pattern \"\(pattern)\"; check the pattern and the command")
            }
            for match in search.matches where !outcome.artifacts.contains(where: { $0.path == match.path }) {
                // A sparse file can have any size: the sum must not overflow.
                guard match.bytes <= setting.fileLimits.totalBytes - found.bytes else {
                    found.problems.append(
                        "with \(match.path) the step's artifacts exceed \(Figures.grouped(setting.fileLimits.totalBytes)) bytes; compress or remove some"
                    )
                    break
                }
                found.bytes += match.bytes
                if let artifact = collect(match, of: step, from: files, &found) { outcome.artifacts.append(artifact) }
            }
        }
        report(found, of: step, in: &outcome)
    }

    /// What the search for a step's artifacts came to.
    private struct CollectedArtifacts {
        /// The size of all files that were found.
        var bytes = 0
        /// In sentences for the report.
        var problems: [String] = []
        /// An error of the machine, although the step did all that was asked of it.
        var machineProblem: String?
    }

    /// Copies one file; returns nil, and notes why, if it was not stored.
    private func collect(
        _ match: FileMatch, of step: PlannedStep, from files: WorkspaceFiles, _ found: inout CollectedArtifacts
    ) -> ArtifactRecord? {
        let temporary = setting.temporaryFile(in: setting.artifacts)
        do {
            if let name = setting.secrets.masker?.secret(in: match.path) {
                throw WorkspaceFileProblem(path: match.path, reason: "its name contains secret \(name)", secret: name)
            }
            let (digest, bytes) = try files.copy(match.path, to: temporary, masker: setting.secrets.masker)
            try FileManager.default.moveReplacing(temporary.string, to: setting.artifacts.appending(digest).string)
            return ArtifactRecord(
                step: step.name, path: match.path, bytes: bytes, sha256: digest, isExecutable: match.isExecutable)
        } catch {
            _ = temporary.withPlatformString { unlink($0) }
            let problem = error as? WorkspaceFileProblem
            if let secret = problem?.secret {
                // This comes first, because some readers show only the first reason.
                found.problems.insert(
                    "artifact \(match.path) contains secret \(secret) and was not stored", at: 0)
            } else if let code = problem?.machineError ?? error as? Errno {
                found.machineProblem = found.machineProblem ?? unkept("artifact \(match.path)", of: step, code)
            } else {
                found.problems.append("\(error)")
            }
            return nil
        }
    }

    private func report(_ found: CollectedArtifacts, of step: PlannedStep, in outcome: inout StepOutcome) {
        guard let reason = found.problems.first ?? found.machineProblem else { return }
        // A step that declares artifacts and leaves none has not done its work, whatever its exit code says. If it
        // failed anyway, it may not have come to make them.
        let isCause = outcome.record.status == .passed
        outcome.findings += (found.problems + [found.machineProblem].compactMap(\.self)).map {
            Finding(
                rule: "artifact", severity: isCause ? .error : .note, message: "step \"\(step.name)\": \($0)")
        }
        guard isCause else { return }
        outcome.record.status = found.problems.isEmpty ? .infrastructure : .failed
        outcome.record.reason = reason
        outcome.isFlaky = false
    }

    /// The reason why something that a step left could not be stored although its command passed.
    func unkept(_ what: String, of step: PlannedStep, _ code: Errno) -> String {
        (code.isFull ? "disk full: " : "") + "its \(what) could not be stored: \(code). " + advice(code, step)
    }

    /// The next step for a person when the disk refused what a step left.
    func advice(_ code: Errno, _ step: PlannedStep) -> String {
        (code.isFull ? "Free space on the state folder's disk, " : "Check the state folder's disk, ")
            + (mayRepeat(step)
                ? "then rerun."
                : "and check by hand what the step did before you rerun it: it did run.")
    }

    /// The rest of a reason, for a step that must not be run again without a person.
    func byHand(_ step: PlannedStep) -> String {
        mayRepeat(step) ? "" : "; check by hand what it did before you rerun it: it did run"
    }

    /// Whether a step whose command has ended may be run again without a person. A journal exists only if steps have
    /// effects outside.
    func mayRepeat(_ step: PlannedStep) -> Bool { setting.journal == nil || step.isIdempotent }
}

extension Errno {
    var isFull: Bool { self == .noSpace || self == .diskQuotaExceeded }
}

extension FileManager {
    /// Renames a file and replaces any file at the target.
    func moveReplacing(_ source: String, to target: String) throws {
        guard rename(source, target) == 0 else { throw Errno(rawValue: errno) }
    }
}
