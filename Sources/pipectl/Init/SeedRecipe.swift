import Pipeline

/// How one kind of project is built and tested, as steps of a seed workflow.
struct SeedRecipe: Sendable {
    /// A step as text. Modifiers are Swift: `.network(.allowed)`.
    struct SeedStep: Sendable {
        var name: String
        var command: String
        var needs: [String] = []
        var modifiers: [String] = []
        /// A line above it, for what is not plain.
        var comment: String?
    }

    /// In order, each after what it needs.
    var steps: [SeedStep]
    /// What runs beside them, on changes only.
    var checks: [SeedStep] = []
    var releaseSteps: [SeedStep]
    /// Shell lines that make `dist/$name.tar.gz`.
    var archive = ["git archive --format=tar --prefix=\"$name/\" HEAD | gzip -9n > \"dist/$name.tar.gz\""]
    var archiveComment = "The sources, the same bytes each time. Ship something else? Put it in dist/ here."

    #if os(macOS)
        static let checksum = "shasum -a 256"
    #else
        static let checksum = "sha256sum"
    #endif

    /// The lines of a workflow: steps that others need as named values, then the list of all.
    ///
    /// - Parameter lastIsNeeded: Whether a step that is written after these lines needs the last one.
    func body(of steps: [SeedStep], lastIsNeeded: Bool = false) -> String {
        var needed = Set(steps.flatMap(\.needs))
        if lastIsNeeded, let last = steps.last { needed.insert(last.name) }
        var text = ""
        for step in steps where needed.contains(step.name) {
            text += "\(comment(step))    let \(step.name.swiftName) = \(expression(step))\n"
        }
        if !needed.isEmpty { text += "\n" }
        for step in steps where needed.contains(step.name) { text += "    \(step.name.swiftName)\n" }
        for step in steps where !needed.contains(step.name) { text += "\(comment(step))    \(expression(step))\n" }
        return text
    }

    private func comment(_ step: SeedStep) -> String { step.comment.map { "    // \($0)\n" } ?? "" }

    private func expression(_ step: SeedStep) -> String {
        let needs = step.needs.map(\.swiftName)
        let list = needs.isEmpty ? "" : ", needs: \(needs.joined(separator: ", "))"
        let text = step.command.swiftLiteral
        let start = "Step(\(step.name.swiftLiteral)\(list), run: \(text))"
        let oneLine = start + step.modifiers.joined()
        if oneLine.count <= 90 { return oneLine }
        let broken =
            start.count <= 90
            ? start : "Step(\n        \(step.name.swiftLiteral)\(list),\n        run: \(text)\n    )"
        let indent = start.count <= 90 ? "\n        " : "\n    "
        return ([broken] + step.modifiers).joined(separator: indent)
    }
}
