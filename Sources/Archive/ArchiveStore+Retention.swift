public import Results
public import Store
internal import Foundation
internal import Git

extension ArchiveStore {
    /// The runs that `policy` would remove now. Queued and running runs, and the newest of all, are never removed.
    public func plan(_ policy: RetentionPolicy, _ index: Index) async throws -> RetentionPlan {
        let rows = try await index.retentionRows()
        let stored = Dictionary(uniqueKeysWithValues: artifacts.all().map { ($0.sha256, $0) })
        var plan = Self.plan(policy, rows, artifactBytes: stored.mapValues(\.bytes), now: now())
        let removed = Set(plan.removals.map(\.run))
        var wanted = Set<String>()
        for row in rows where !removed.contains(row.id) { wanted.formUnion(row.artifacts) }
        // A run that is being archived has no row yet. An hour is longer than archiving takes.
        let settled = now().addingTimeInterval(-3600)
        plan.artifacts = stored.values.filter { !wanted.contains($0.sha256) && $0.wanted < settled }
            .map { RetentionPlan.Artifact(sha256: $0.sha256, bytes: $0.bytes) }
            .sorted { $0.sha256 < $1.sha256 }
        return plan
    }

    /// Decides about all ended runs, `rows`, which must be ascending. A pure function.
    static func plan(
        _ policy: RetentionPolicy, _ rows: [Index.RetentionRow], artifactBytes: [String: Int], now: Date
    ) -> RetentionPlan {
        let protected = RetentionProtection(rows, keepNewestPerBranch: policy.keepNewestPerBranch, now: now)
        var uses: [String: Int] = [:]
        for row in rows { for digest in row.artifacts { uses[digest, default: 0] += 1 } }
        var total = rows.reduce(0) { $0 + $1.bytes } + uses.keys.reduce(0) { $0 + (artifactBytes[$1] ?? 0) }
        var plan = RetentionPlan()
        plan.keptRuns = rows.count
        for row in rows {
            guard let (limit, reason) = reason(policy, row, runs: plan.keptRuns, bytes: total, now: now) else {
                continue
            }
            if let why = protected.reasons[row.id] {
                plan.kept.append(RetentionPlan.Kept(run: row.id, reason: why))
                continue
            }
            plan.removals.append(RetentionPlan.Removal(run: row.id, limit: limit, reason: reason, bytes: row.bytes))
            plan.keptRuns -= 1
            total -= row.bytes
            for digest in row.artifacts {
                uses[digest, default: 0] -= 1
                if uses[digest] == 0 { total -= artifactBytes[digest] ?? 0 }
            }
        }
        return plan
    }

    /// Carries out a plan: removes runs from the archive, then from the store, then artifacts that no run needs.
    ///
    /// If it is interrupted, the next plan completes it.
    ///
    /// - Throws: `.unusableArchive` if the archive has runs that the store does not have, because their artifacts would
    ///   be removed.
    public func apply(_ plan: RetentionPlan, _ index: Index) async throws {
        let known = try await index.archivedIDs()
        let unknown = try await ids().filter { !known.contains($0) }
        // A run between its archiving and its row in the store is unknown for a moment, but its artifacts are new.
        let live = Set(try await index.unarchivedRuns())
        if let id = unknown.first(where: { !live.contains($0) }) {
            throw ArchiveError(
                .unusableArchive,
                "Run \(id) is in the archive but not in the index, so pipectl can't tell what it needs. Nothing was removed; "
                    + "`pipectl archive reindex` adds it.", run: id)
        }
        let removals = plan.removals.map(\.run)
        // Otherwise an export that goes on could bring one back.
        try await writing.pass {
            try await withArchive { repository in
                for id in removals { try repository.deleteRef(Self.ref(id)) }
                // The index must not forget what a power cut would bring back.
                try Self.flushNames(of: repository)
            }
            try await index.remove(removals)
            for id in removals { queueFolder.remove(id) }
        }
        let settled = now().addingTimeInterval(-3600)
        let young = Set(artifacts.all().filter { $0.wanted >= settled }.map(\.sha256))
        for artifact in plan.artifacts where !young.contains(artifact.sha256) {
            if try await index.runs(withArtifact: artifact.sha256).isEmpty { artifacts.remove(artifact.sha256) }
        }
    }

    private static func reason(
        _ policy: RetentionPolicy, _ row: Index.RetentionRow, runs: Int, bytes: Int, now: Date
    ) -> (RetentionPlan.Limit, String)? {
        if let days = policy.maximumAgeDays, row.endedAt < now.addingTimeInterval(-days * 86_400) {
            let age = Int(now.timeIntervalSince(row.endedAt) / 86_400)
            return (.age, "ended \(age) days ago, over the limit of \(days.formatted()) days")
        }
        if let maximum = policy.maximumRuns, runs > maximum { return (.runs, "over the limit of \(maximum) runs") }
        if let maximum = policy.maximumBytes, bytes > maximum {
            return (.bytes, "over the limit of \(Figures.size(maximum))")
        }
        return nil
    }
}
