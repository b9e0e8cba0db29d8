package import Pipeline
import Results

/// A workflow's declarations besides its steps: approval, integrity, fixer, quarantine, bisecting.
package enum DeclarationText {
    package static func lines(_ declaration: WorkflowDeclaration) -> [String] {
        var lines: [String] = []
        if let rule = declaration.approval {
            let paths = rule.paths.isEmpty ? "" : "changes of \(rule.paths.joined(separator: ", ")) need approval"
            lines.append("approval   \(rule.isAlways ? "every run needs approval" : paths)")
        }
        if let rules = declaration.integrity {
            lines.append(
                "integrity  changes that weaken tests need approval (\(rules.count == 1 ? "1 rule" : "\(rules.count) rules"))"
            )
        }
        if let fix = declaration.fix {
            let tries = fix.attempts == 1 ? "1 attempt" : "\(fix.attempts) attempts"
            let push = fix.push == .ownBranch ? ", pushed to the change's branch" : ""
            lines.append(
                "fixer      \(fix.command)  [\(tries), at most \(Figures.duration(fix.timeout)) each\(push)]")
        }
        if let tests = declaration.quarantine, !tests.isEmpty {
            lines.append("quarantine \(tests.count == 1 ? "1 test" : "\(tests.count) tests")")
        }
        if declaration.bisectsWhenRed == true { lines.append("bisects    when the branch turns red") }
        return lines
    }
}
