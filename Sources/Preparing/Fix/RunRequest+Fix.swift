package import Results
import Pipeline

extension RunRequest {
    /// A run in which a fixer works on what failed.
    package static func fixing(_ failed: RunRequest, _ role: FixRole) -> RunRequest {
        var request = failed
        request.kind = .fix(role)
        request.nonce = "fix \(role.attempt) of run \(role.of)"
        (request.onlySteps, request.onlyTests, request.options.isForeground) = (nil, nil, false)
        request.options.askedBy = nil
        request.concurrency = .queue(max: 1_000)
        return request
    }

    /// A run of the whole workflow on what a fixer made, as if it were the change's head.
    package static func checking(_ failed: RunRequest, _ role: FixRole, commit: String) -> RunRequest {
        var request = fixing(failed, role)
        request.nonce = "check of fix \(role.attempt) of run \(role.of)"
        request.head = commit
        request.change?.head = commit
        return request
    }
}
