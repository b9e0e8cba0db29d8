import Pipeline

/// Refuses the words that `pipectl init` writes for values that it can't know.
///
/// Otherwise a release would run all its tests before Apple refuses it.
struct NoPlaceholders: PlanRule {
    static let name = "placeholder"

    private struct Placeholder {
        var word: String
        /// How it appears in a line that `Xcode` makes.
        var text: String
        /// What it stands for, as the subject of a sentence.
        var meaning: String
        /// Where a person finds the value.
        var place: String
    }

    private static let integrations = "App Store Connect shows it under Users and Access, Integrations"
    private static let placeholders = [
        Placeholder(
            word: "KEY_ID", text: " -authenticationKeyID KEY_ID ", meaning: "the API key's id", place: integrations),
        Placeholder(
            word: "ISSUER_ID", text: " -authenticationKeyIssuerID ISSUER_ID", meaning: "the API key's issuer",
            place: integrations),
        Placeholder(
            word: "TEAM_ID", text: "<string>TEAM_ID</string>", meaning: "the team's id",
            place: "developer.apple.com/account shows it under Membership details"),
        Placeholder(
            word: "BUNDLE_ID", text: "", meaning: "the app's bundle identifier",
            place: "Xcode shows it at the target, under Signing & Capabilities"),
    ]

    func check(_ plan: Plan, _ report: (String?, String) -> Void) {
        // Several steps have the same value; a person corrects it once.
        for placeholder in Self.placeholders {
            guard let step = plan.steps.first(where: { Self.has(placeholder, $0) }) else { continue }
            report(
                step.name,
                "\(placeholder.meaning) is still \(placeholder.word); write your own: \(placeholder.place)")
        }
    }

    private static func has(_ placeholder: Placeholder, _ step: PlannedStep) -> Bool {
        switch step.action {
        case .shell(let line): !placeholder.text.isEmpty && line.contains(placeholder.text)
        case .publish(.testFlight(let app)): [app.keyID, app.issuer, app.app].contains(placeholder.word)
        default: false
        }
    }
}
