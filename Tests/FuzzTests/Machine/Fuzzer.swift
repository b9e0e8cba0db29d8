import Foundation
import TestBasics
import TestSupport

/// The result of running a target.
struct FuzzOutcome {
    var executions = 0
    var failures: [String] = []
}

/// Runs one target over many inputs, and always records the current one.
struct Fuzzer {
    let target: FuzzTarget
    let plan: FuzzPlan

    func run() async throws -> FuzzOutcome {
        let mutator = Mutator(
            corpus: try target.corpus(), words: target.words, isJSON: target.isJSON, limit: target.limit)
        let mark = try FuzzMark(target: target.name, seed: plan.seed, folder: plan.folder)
        var outcome = FuzzOutcome()
        let clock = ContinuousClock()
        let end = clock.now + plan.duration
        try await target.scope { check in
            var iteration = plan.first
            var kinds: Set<String> = []
            while clock.now < end, outcome.executions < plan.iterations, outcome.failures.count < 10 {
                var random = SplitMix64(seed: plan.seed, iteration: iteration)
                let input = plan.input.map { FuzzInput(bytes: $0) } ?? mutator.input(&random)
                // Before the input is read, since nothing can be recorded after a trap.
                mark.note(iteration)
                do {
                    try await check(input, &random)
                    if !plan.sharesProcess { try MemoryBudget.hold(input.bytes.count) }
                } catch {
                    // The rule without its values: one failure of each kind is enough.
                    if kinds.insert(Self.kind(of: error)).inserted {
                        outcome.failures.append(
                            try describe(error, iteration: iteration, input: input.bytes))
                    }
                }
                outcome.executions += 1
                iteration += 1
            }
        }
        mark.remove()
        return outcome
    }

    private static func kind(of error: any Error) -> String {
        let parts = "\(error)".split(separator: "\"", omittingEmptySubsequences: false).enumerated()
        let words = parts.filter { $0.offset.isMultiple(of: 2) }.map(\.element).joined()
        return String(words.filter { $0.isASCII && $0.isLetter }.prefix(60))
    }

    private func describe(_ error: any Error, iteration: Int, input: [UInt8]) throws -> String {
        let folder = plan.folder.appending(path: "failures")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let file = folder.appending(path: "\(target.name)-\(plan.seed)-\(iteration)")
        try Data(input).write(to: file)
        return """
            \(target.name): \(error)
            input: \(file.path)
            again: script/fuzz --target \(target.name) --seed \(plan.seed) --first \(iteration) --iterations 1
            """
    }
}

/// The inputs to run: from the environment for `script/fuzz`, otherwise a few.
struct FuzzPlan {
    var seed: UInt64 = 1
    var first = 0
    var iterations = Int.max
    var duration = Duration.milliseconds(900)
    /// This input instead of generated ones.
    var input: [UInt8]?
    /// Whether other tests run in the process, so that its memory says nothing about the target.
    var sharesProcess = true
    /// The folder for failing inputs.
    var folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().appending(path: ".build/fuzz")

    static func fromEnvironment() throws -> FuzzPlan {
        var plan = FuzzPlan()
        let environment = ProcessInfo.processInfo.environment
        func value(_ name: String) -> String? { environment["PIPECTL_FUZZ_" + name].flatMap { $0.isEmpty ? nil : $0 } }
        if value("TARGET") != nil { plan.sharesProcess = false }
        if let seed = value("SEED").flatMap(UInt64.init) { plan.seed = seed }
        if let first = value("FIRST").flatMap(Int.init) { plan.first = first }
        if let seconds = value("SECONDS").flatMap(Double.init) { plan.duration = .seconds(seconds) }
        if let count = value("ITERATIONS").flatMap(Int.init) {
            plan.iterations = count
            plan.duration = .seconds(86_400)
        }
        if let path = value("INPUT") {
            plan.input = Array(try Data(contentsOf: URL(filePath: path)))
            plan.iterations = 1
        }
        return plan
    }

    /// Whether `target` is selected.
    static func includes(_ target: FuzzTarget) -> Bool {
        guard let wanted = ProcessInfo.processInfo.environment["PIPECTL_FUZZ_TARGET"], !wanted.isEmpty else {
            return true
        }
        return wanted == target.name
    }
}
