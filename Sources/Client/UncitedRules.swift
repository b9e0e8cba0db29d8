import Foundation
package import Pipeline
package import PlanRules

/// Rules of a project that the file they name does not state.
package enum UncitedRules {
    /// A warning for each rule that its file does not state, so that a finding could not cite it.
    package static func findings(_ rules: [Rule], in root: String) -> [PlanFinding] {
        rules.compactMap { rule in
            guard let source = rule.source else { return nil }
            let path = "\(root)/\(source)"
            let type = (try? FileManager.default.attributesOfItem(atPath: path))?[.type] as? FileAttributeType
            guard type == .typeRegular, let content = FileManager.default.contents(atPath: path) else {
                return PlanFinding(
                    rule: "rule-source", workflow: "",
                    message:
                        "the rule \"\(rule.text)\" says \(source), which is no file here; add it, or leave says: out")
            }
            guard rule.citation(in: String(decoding: content, as: UTF8.self)) == nil else { return nil }
            return PlanFinding(
                rule: "rule-source", workflow: "",
                message:
                    "the rule \"\(rule.text)\" says \(source), but no line there has this text; write the rule there in these words"
            )
        }
    }
}
