import Foundation
import Pipeline
import Sandbox

/// The plan of a workflow that does not read the context, stored beside its program.
struct PlanFile {
    private let path: String

    init(directory: String, workflow: String) {
        path = "\(directory)/plans/\(FileDigest.of(parts: [workflow]))"
    }

    private static let plans = DecodedFiles<Plan>()

    /// The stored plan; nil if there is none or if it is damaged.
    func read() -> Plan? {
        Self.plans.value(in: path) { data in
            // The file contains a digest of 64 digits, a line end, and the content.
            guard data.count > 65, String(decoding: data.prefix(64), as: UTF8.self) == FileDigest.of(data.dropFirst(65))
            else { return nil }
            return (try? JSONDecoder().decode(Content.self, from: data.dropFirst(65)))?.plan
        }
    }

    /// Stores the plan if possible; without it the program is asked again.
    func write(_ plan: Plan) {
        guard let json = try? JSONEncoder().encode(Content(plan)) else { return }
        let folder = path.split(separator: "/").dropLast().reduce("") { "\($0)/\($1)" }
        try? FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try? (Data("\(FileDigest.of(json))\n".utf8) + json).write(to: URL(fileURLWithPath: path), options: .atomic)
    }

    /// A plan in which the values that many steps share are written once, because decoding thirty values for each step
    /// would take longer than the rest of a load.
    private struct Content: Codable {
        struct Step: Codable {
            var name: String
            var action: PlannedStep.Action
            var needs: [String]
            /// The index in ``kinds`` of the step's other values.
            var kind: Int
        }

        /// The plan without its steps.
        var frame: Plan
        /// Steps without names, actions and needs.
        var kinds: [PlannedStep]
        var steps: [Step]

        init(_ plan: Plan) {
            frame = plan
            frame.steps = []
            kinds = []
            steps = []
            for step in plan.steps {
                let kind = step.kind
                // Only the last few kinds are searched.
                let known = kinds.suffix(8).lastIndex(of: kind)
                if known == nil { kinds.append(kind) }
                steps.append(
                    Step(name: step.name, action: step.action, needs: step.needs, kind: known ?? kinds.count - 1))
            }
        }

        /// Nil if a step refers to a kind that does not exist.
        var plan: Plan? {
            var plan = frame
            for step in steps {
                guard kinds.indices.contains(step.kind) else { return nil }
                var whole = kinds[step.kind]
                (whole.name, whole.action, whole.needs) = (step.name, step.action, step.needs)
                plan.steps.append(whole)
            }
            return plan
        }
    }
}
