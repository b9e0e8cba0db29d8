import Foundation
import Pipeline

/// The plan of a workflow that does not read the context, kept beside its program.
struct PlanFile {
    private let path: String

    init(directory: String, workflow: String) {
        path = "\(directory)/plans/\(FileDigest.of(parts: [workflow]))"
    }

    private static let plans = DecodedFiles<Plan>()

    /// The kept plan; nil when there is none or a byte of it is wrong.
    func read() -> Plan? {
        Self.plans.value(in: path) { data in
            // 64 digits, a line end, and what they are the digest of.
            guard data.count > 65, String(decoding: data.prefix(64), as: UTF8.self) == FileDigest.of(data.dropFirst(65))
            else { return nil }
            return try? JSONDecoder().decode(Plan.self, from: data.dropFirst(65))
        }
    }

    /// Best effort: without it the program is only asked again.
    func write(_ plan: Plan) {
        guard let json = try? JSONEncoder().encode(plan) else { return }
        let folder = path.split(separator: "/").dropLast().reduce("") { "\($0)/\($1)" }
        try? FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try? (Data("\(FileDigest.of(json))\n".utf8) + json).write(to: URL(fileURLWithPath: path), options: .atomic)
    }
}
