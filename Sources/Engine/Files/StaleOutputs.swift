package import Foundation
package import Pipeline

/// Which files at the output paths of a proved step are stale and are removed when its outputs are restored.
///
/// Stale are files that earlier runs left there, and files that the steps it needs made there, because the step itself
/// may have removed them. Tracked files of the repository stay, because they are among the outputs. Files at output
/// paths of steps that may run at the same time stay, too.
package struct StaleOutputs: Sendable, Codable {
    /// The patterns of the step's outputs.
    package let places: [Glob]
    private let needed: [Glob]
    private let others: [Glob]
    private let tracked: Set<String>
    private let begunAt: Date

    /// - Parameters:
    ///   - tracked: Tracked files of the repository that match the patterns.
    ///   - begunAt: When the run began. A file that was last changed earlier was made by no step of this run.
    package init(before step: PlannedStep, in plan: Plan, tracked: [String], begunAt: Date) {
        func globs(_ steps: some Sequence<PlannedStep>) -> [Glob] {
            steps.flatMap(\.outputs).compactMap { try? Glob($0) }
        }
        let (own, later) = (plan.needs(of: step.name), plan.dependants(of: step.name))
        places = globs([step])
        needed = globs(plan.steps.filter { $0.name != step.name && own.contains($0.name) })
        others = globs(plan.steps.filter { !own.contains($0.name) && !later.contains($0.name) })
        self.tracked = Set(tracked)
        self.begunAt = begunAt
    }

    /// Returns whether the file or folder at a path has to be removed.
    ///
    /// - Parameter changedAt: Its change time (ctime), which no step can set.
    package func contains(_ path: String, changedAt: Date) -> Bool {
        guard places.contains(where: { $0.matches(path) }), !tracked.contains(path),
            !others.contains(where: { $0.matches(path) })
        else { return false }
        return changedAt < begunAt || needed.contains { $0.matches(path) }
    }
}

extension StaleOutputs {
    private enum Key: String, CodingKey { case places, needed, others, tracked, begunAt }

    package init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: Key.self)
        func globs(_ key: Key) throws -> [Glob] {
            try fields.decode([String].self, forKey: key).map { try Glob($0) }
        }
        (places, needed, others) = (try globs(.places), try globs(.needed), try globs(.others))
        tracked = try fields.decode(Set<String>.self, forKey: .tracked)
        begunAt = try fields.decode(Date.self, forKey: .begunAt)
    }

    package func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: Key.self)
        try fields.encode(places.map(\.pattern), forKey: .places)
        try fields.encode(needed.map(\.pattern), forKey: .needed)
        try fields.encode(others.map(\.pattern), forKey: .others)
        try fields.encode(tracked, forKey: .tracked)
        try fields.encode(begunAt, forKey: .begunAt)
    }
}
