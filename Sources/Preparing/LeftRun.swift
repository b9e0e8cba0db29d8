package import Foundation
package import MachinePool
package import Pipeline
package import Results
package import StateFiles

/// A run whose steps may still run on another machine although the daemon that began them is gone, as its folder tells.
package struct LeftRun: Sendable, Codable {
    package let run: RunID
    package let trace: PlaceTrace
    package let plan: Plan
    /// The tested tree.
    package let tree: String
    /// When the run's first attempt started.
    package let startedAt: Date
    /// When it had its place.
    package let placedAt: Date
    /// What was not flushed to the disk is there only until the system stops.
    private let boot: String

    package init(_ run: RunID, _ trace: PlaceTrace, plan: Plan, tree: String, startedAt: Date) {
        (self.run, self.trace, self.plan, self.tree, self.startedAt) = (run, trace, plan, tree, startedAt)
        (placedAt, boot) = (Date(), Boot.id)
    }

    private static let file = "left.json"

    /// Why a run is begun again when the daemon or the connection was lost, although its place is lasting; nil if its
    /// steps are taken over.
    ///
    /// This is the one place where that is decided.
    package static func obstacle(to plan: Plan) -> String? {
        if plan.steps.contains(where: { $0.shard?.list != nil }) { return "a list of tests would be divided anew" }
        return nil
    }

    /// Notes durably that the run in a folder may be taken over.
    package func write(to folder: String) throws {
        try JSONEncoder().encode(self).write(to: URL(fileURLWithPath: "\(folder)/\(Self.file)"), options: .atomic)
    }

    /// Notes that nothing of the run in a folder can be taken over.
    package static func remove(from folder: String) throws {
        let path = "\(folder)/\(file)"
        if FileManager.default.fileExists(atPath: path) { try FileManager.default.removeItem(atPath: path) }
    }

    /// The runs in folders of a state folder that may be taken over.
    package static func all(in state: StateFolder) -> [(left: LeftRun, folder: String)] {
        ((try? FileManager.default.contentsOfDirectory(atPath: state.live)) ?? []).compactMap { name in
            let folder = "\(state.live)/\(name)"
            guard let data = FileManager.default.contents(atPath: "\(folder)/\(file)"),
                let left = try? JSONDecoder().decode(LeftRun.self, from: data), left.boot == Boot.id
            else { return nil }
            return (left, folder)
        }
    }
}
