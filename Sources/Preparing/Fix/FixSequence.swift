package import Store
package import Results
package import Archive

/// The attempts to fix a run, and what follows from them: a value without clock, disk or process.
package struct FixSequence: Sendable {
    /// One of the runs of an attempt.
    package struct Part: Sendable {
        package var run: RunID
        package var role: FixRole
        /// The verdict; nil while the run waits or runs.
        package var verdict: Verdict?
        package var reason: String
        /// The result in its report; nil if there is no report.
        package var record: FixRecord?
    }

    package enum Next: Sendable, Equatable {
        /// One of the attempt's runs is live.
        case wait
        /// A run in which the fixer works.
        case make(FixRole)
        /// A run of the workflow on the fixer's commit.
        case check(FixRole, commit: String)
        case end(FixSeries.State, reason: String)
    }

    package let run: RunID
    /// Oldest first.
    package var parts: [Part]

    package init(run: RunID, parts: [Part]) {
        self.run = run
        self.parts = parts
    }

    /// The record of the attempts to fix a run.
    package static func parts(of id: RunID, _ index: Store.Index, _ store: ArchiveStore) async throws -> [Part] {
        var parts: [Part] = []
        for run in try await index.fixRuns(of: id) {
            guard let role = run.request.fix else { continue }
            var part = Part(run: run.id, role: role, reason: run.summary.reason ?? "")
            if run.summary.state == .ended, run.summary.isArchived {
                let report = try await store.report(run.id)
                (part.verdict, part.reason, part.record) = (report.verdict, report.reason, report.fix)
            }
            parts.append(part)
        }
        return parts
    }

    /// In the order of the runs' numbers.
    package var attempts: [FixAttempt] {
        parts.filter(\.role.isMaking).map { made in
            let check = parts.last { $0.role.maker == made.run }
            var attempt = FixAttempt(number: made.role.attempt, run: made.run, reason: made.reason)
            (attempt.check, attempt.outcome) = (check?.run, made.record?.outcome)
            attempt.verdict = check?.verdict ?? made.verdict
            if let check {
                attempt.reason =
                    check.verdict.map { "\($0.title): \(check.reason)" } ?? "being checked by run \(check.run)"
            }
            guard let record = made.record else { return attempt }
            (attempt.commit, attempt.ref, attempt.patch) = (record.commit, record.ref, record.patch)
            (attempt.files, attempt.additions, attempt.deletions) = (record.files, record.additions, record.deletions)
            return attempt
        }
    }

    /// - Parameter first: The state of the first attempt, if none was made yet and one is wanted.
    package func next(first: FixRole?) -> Next {
        guard let last = parts.last else {
            return first.map { .make($0) } ?? .end(.stopped, reason: "no fix was asked for")
        }
        guard let verdict = last.verdict else { return .wait }
        let role = last.role
        switch verdict {
        case .superseded, .cancelled: return .end(.stopped, reason: last.reason)
        case _ where role.isMaking:
            guard last.record?.outcome == .made, let commit = last.record?.commit else { return again(last) }
            var check = role
            check.maker = last.run
            return .check(check, commit: commit)
        case .passed:
            return .end(.offered, reason: "attempt \(role.attempt) passes as run \(last.run)")
        case .flaky:
            return .end(
                .offered, reason: "attempt \(role.attempt) passes as run \(last.run), with flaky tests: \(last.reason)")
        case .needsApproval:
            return .end(
                .needsApproval,
                reason: "attempt \(role.attempt) passes as run \(last.run), but its changes need approval: "
                    + Approval.command(last.run))
        default: return again(last)
        }
    }

    private func again(_ last: Part) -> Next {
        let role = last.role
        guard role.attempt < role.last else {
            let count = parts.count(where: \.role.isMaking)
            let words = count == 1 ? "the attempt did not pass" : "none of \(count) attempts passed"
            return .end(.givenUp, reason: "\(words); the last one: \(last.reason)")
        }
        var next = role
        (next.attempt, next.maker) = (role.attempt + 1, nil)
        return .make(next)
    }
}
