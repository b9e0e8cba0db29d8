/// The name of a result file of the archive that goes to a forge's code scanning:
/// `STEP-ATTEMPT-NUMBER-code-scanning.sarif`, with the step's position in the plan.
package struct CodeScanningFile: Sendable, Equatable {
    /// What all of these names end with.
    package static let suffix = "code-scanning.sarif"

    /// The whole name.
    package var name: String
    /// The step's position in the plan, from 1.
    package var step: Int
    /// The attempt of the step, from 1.
    package var attempt: Int
    /// The number among the result files of the attempt, from 1.
    package var number: Int

    /// Nil for other files.
    package init?(_ name: String) {
        guard name.hasSuffix("-\(Self.suffix)") else { return nil }
        let numbers = name.dropLast(Self.suffix.count + 1).split(separator: "-").map { Int($0) }
        guard numbers.count == 3, let step = numbers[0], let attempt = numbers[1], let number = numbers[2] else {
            return nil
        }
        (self.name, self.step, self.attempt, self.number) = (name, step, attempt, number)
    }

    /// The files of each step's last attempt that left some, in the plan's order.
    package static func latest(_ names: [String]) -> [CodeScanningFile] {
        let all = names.compactMap(CodeScanningFile.init)
        var last: [Int: Int] = [:]
        for file in all { last[file.step] = max(last[file.step] ?? 0, file.attempt) }
        return all.filter { last[$0.step] == $0.attempt }.sorted { ($0.step, $0.number) < ($1.step, $1.number) }
    }
}
