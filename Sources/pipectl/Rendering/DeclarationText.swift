import Pipeline
import Results

/// A workflow's declarations besides its steps: approval, integrity, fixer, quarantine, bisecting.
enum DeclarationText {
    static func lines(_ declaration: WorkflowDeclaration) -> [String] {
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

    /// What a trigger is limited to beside its branches, in brackets; empty if it has no such limit.
    static func filters(_ trigger: Trigger) -> String {
        func quoted(_ patterns: [String]) -> String { patterns.map { "\"\($0)\"" }.joined(separator: ", ") }
        var parts: [String] = []
        if !trigger.paths.isEmpty { parts.append("only \(trigger.paths.joined(separator: ", "))") }
        if !trigger.ignoredPaths.isEmpty { parts.append("not \(trigger.ignoredPaths.joined(separator: ", "))") }
        if !trigger.messages.isEmpty { parts.append("only messages with \(quoted(trigger.messages))") }
        if !trigger.ignoredMessages.isEmpty { parts.append("no messages with \(quoted(trigger.ignoredMessages))") }
        if trigger.drafts == .ignored { parts.append("no drafts") }
        if !trigger.labels.isEmpty { parts.append("only with label \(quoted(trigger.labels))") }
        return parts.isEmpty ? "" : " [\(parts.joined(separator: "; "))]"
    }
}
