import TerminalText
import Pipeline

/// The effect of a changed definition on a workflow: its plan compared with the one that ran.
struct PlanDifference: Sendable, Equatable {
    var added: [String] = []
    var removed: [String] = []
    /// Steps with another command. Bodies of closures can't be compared.
    var commands: [String] = []
    /// Steps that differ only in needs, time-out, network, secrets and the like.
    var settings: [String] = []

    init(from old: Plan, to new: Plan) {
        let before = Dictionary(old.steps.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        let after = Set(new.steps.map(\.name))
        removed = old.steps.map(\.name).filter { !after.contains($0) }
        for step in new.steps {
            guard let known = before[step.name] else {
                added.append(step.name)
                continue
            }
            if known.action != step.action {
                commands.append(step.name)
            } else if known != step {
                settings.append(step.name)
            }
        }
    }

    var isEmpty: Bool { added.isEmpty && removed.isEmpty && commands.isEmpty && settings.isEmpty }

    /// `adds 1 step (x), removes 2 (y, z), changes the command of w`.
    var inWords: String {
        if isEmpty { return "plans the same steps" }
        var parts: [String] = []
        if !added.isEmpty { parts.append("adds \(count(added, isFirst: true)) (\(list(added)))") }
        if !removed.isEmpty { parts.append("removes \(count(removed, isFirst: parts.isEmpty)) (\(list(removed)))") }
        if !commands.isEmpty { parts.append("changes the command of \(list(commands))") }
        if !settings.isEmpty { parts.append("changes how \(list(settings)) would run") }
        return parts.joined(separator: ", ")
    }

    private func count(_ names: [String], isFirst: Bool) -> String {
        isFirst ? "\(names.count) step\(names.count == 1 ? "" : "s")" : "\(names.count)"
    }

    private func list(_ names: [String]) -> String {
        let shown = names.prefix(5).map { TerminalText.name($0, limit: 60) }.joined(separator: ", ")
        return names.count > 5 ? "\(shown) and \(names.count - 5) more" : shown
    }
}
