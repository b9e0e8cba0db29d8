package import Control
import TerminalText

/// Whether each step is proved, one line each, with the inputs that changed.
package enum WhyText {
    package static func text(_ reasons: [StepReasoning]) -> String {
        let names = reasons.map { TerminalText.name($0.step, limit: 60) }
        let width = names.map(\.count).max() ?? 0
        var text = ""
        for (reason, name) in zip(reasons, names) {
            let padding = String(repeating: " ", count: width - name.count)
            text +=
                "\(mark(reason.standing)) \(name)\(padding)  \(word(reason)): \(TerminalText.name(reason.reason, limit: 600))\n"
            for path in reason.paths { text += "    \(TerminalText.name(path, limit: 400))\n" }
            if reason.paths.count == 20 { text += "    … (first 20 shown)\n" }
        }
        let left = reasons.count { $0.standing == .proved || $0.standing == .restored }
        return text + "\(reasons.count - left) of \(reasons.count) steps would run\n"
    }

    private static func mark(_ standing: StepReasoning.Standing) -> String {
        switch standing {
        case .proved, .restored: "="
        case .runForItsOutputs, .changed, .unproved, .never: "▶"
        }
    }

    private static func word(_ reason: StepReasoning) -> String {
        switch reason.standing {
        case .proved, .restored: "not run"
        case .runForItsOutputs, .changed, .unproved: "run"
        case .never: "always runs"
        }
    }
}
