/// Which part of a step's tests a step runs: see `Step.shards(_:)`.
public struct Shard: Sendable, Hashable, Codable {
    /// The name of the step that was divided.
    public var step: String
    /// From 1.
    public var number: Int
    /// The number of parts.
    public var count: Int
    /// The file that lists the tests, relative to the workspace; nil: the command itself finds out what a part runs.
    public var list: String?

    /// Part `number` of `count` of a step.
    public init(of step: String, _ number: Int, of count: Int, listedIn list: String? = nil) {
        self.step = step
        self.number = number
        self.count = count
        self.list = list
    }

    /// The most parts of a step.
    package static let most = 100

    /// The part's own name: `unit tests (1 of 4)`.
    package var name: String { "\(step) (\(number) of \(count))" }

    /// What stands for ``number`` in the paths of results and artifacts.
    package static let placeholder = "$" + StepVariable.shard
}

/// Among how many steps the tests of a step are divided, and where they are listed.
struct Division: Sendable {
    var count: Int
    var list: String?
}

extension [PlannedStep] {
    /// The steps, with each divided step replaced by its parts. Who needs the step needs all parts of it.
    func divided(_ shards: [String: Division]) -> [PlannedStep] {
        guard !shards.isEmpty else { return self }
        func parts(_ name: String) -> [Shard]? {
            // A number outside stays one part, which the rules report.
            shards[name].map { division in
                (1...Swift.min(Swift.max(division.count, 1), Shard.most)).map {
                    Shard(of: name, $0, of: division.count, listedIn: division.list)
                }
            }
        }
        return flatMap { step -> [PlannedStep] in
            var step = step
            step.needs = step.needs.flatMap { need in parts(need)?.map(\.name) ?? [need] }
            return parts(step.name)?.map { step.part($0) } ?? [step]
        }
    }
}

extension PlannedStep {
    fileprivate func part(_ shard: Shard) -> PlannedStep {
        func numbered(_ glob: String) -> String {
            // The longer name begins like the shorter one.
            let end = "\u{0}"
            return glob.replacing("$" + StepVariable.shards, with: end)
                .replacing(Shard.placeholder, with: String(shard.number))
                .replacing(end, with: String(shard.count))
        }
        var part = self
        part.name = shard.name
        part.shard = shard
        // How a list is divided depends on earlier runs, so one part's result proves nothing for the next run.
        part.isNeverProved = isNeverProved || shard.list != nil
        part.artifacts = artifacts.map(numbered)
        part.outputs = outputs.map(numbered)
        part.testResults = testResults.map { source in
            switch source {
            case .junit(let glob): .junit(numbered(glob))
            case .swiftTestingEvents(let glob): .swiftTestingEvents(numbered(glob))
            case .file(let glob): .file(numbered(glob))
            case .swiftPMConsole: .swiftPMConsole
            }
        }
        return part
    }
}
