import Pipeline

/// The steps of one or more projects as source lines of a workflow.
struct SeedText {
    /// The projects, with unique names of steps.
    let recipes: [SeedRecipe]

    init(_ recipes: [SeedRecipe]) {
        guard recipes.count > 1 else {
            self.recipes = recipes
            return
        }
        var taken: Set<String> = []
        self.recipes = recipes.map { recipe in
            // Two folders may differ only in characters that a name can't have.
            let plain = recipe.folder.isEmpty ? recipe.tool : SeedText.plain("\(recipe.folder) \(recipe.tool)")
            var prefix = plain
            var number = 2
            while !taken.insert(prefix.swiftName).inserted {
                prefix = "\(plain) \(number)"
                number += 1
            }
            return recipe.named(prefix)
        }
    }

    /// A folder's path as words.
    private static func plain(_ path: String) -> String {
        path.split { !($0.isASCII && ($0.isLetter || $0.isNumber || "._- ".contains($0))) }.joined(separator: " ")
    }

    /// The steps that test a change.
    var tests: String { recipes.map { body($0, $0.steps + $0.checks, lastIsNeeded: false) }.joined(separator: "\n") }

    /// The steps that a release runs before it packs.
    var release: String { recipes.map { body($0, $0.releaseSteps, lastIsNeeded: true) }.joined(separator: "\n") }

    /// The names of a release's last steps, on which the packing step depends.
    var lastOfRelease: [String] { recipes.compactMap { $0.releaseSteps.last?.name.swiftName } }

    /// What a workflow with these steps asks of its machine, as a modifier.
    var machine: String { recipes.contains { $0.xcode != nil } ? "\n.on(.macOS)" : "" }

    /// What a release's steps do, as the start of a sentence.
    var releaseSentence: String {
        let names = recipes.flatMap { $0.releaseSteps.map(\.name) }
        let (builds, tests) = (names.contains { $0.hasSuffix("build") }, names.contains { $0.hasSuffix("tests") })
        switch (builds, tests) {
        case (true, true):
            return "Builds and tests what was merged once more, from nothing, and keeps an archive with its checksum"
        case (true, false):
            return "Builds what was merged once more, from nothing, and keeps an archive with its checksum"
        case (false, true):
            return "Tests what was merged once more, from nothing, and keeps an archive with its checksum"
        case (false, false): return "Keeps an archive of what was merged, with its checksum"
        }
    }

    /// Steps that other steps need become named values; the others are listed.
    private func body(_ recipe: SeedRecipe, _ steps: [SeedRecipe.SeedStep], lastIsNeeded: Bool) -> String {
        var needed = Set(steps.flatMap(\.needs))
        if lastIsNeeded, let last = steps.last { needed.insert(last.name) }
        return steps.map { Self.source($0, in: recipe.folder, isNeeded: needed.contains($0.name)) }.joined()
    }

    /// A step as lines of a workflow, with its comment.
    static func source(_ step: SeedRecipe.SeedStep, in folder: String, isNeeded: Bool) -> String {
        let comment = step.comment.map { "    // \($0)\n" } ?? ""
        let start = isNeeded ? "let \(step.name.swiftName) = " : ""
        return "\(comment)    \(start)\(expression(step, in: folder, width: 116 - start.count))\n"
    }

    private static func expression(_ step: SeedRecipe.SeedStep, in folder: String, width: Int) -> String {
        let list = step.needs.isEmpty ? "" : ", needs: \(step.needs.map(\.swiftName).joined(separator: ", "))"
        let line = step.command.swiftLiteral
        let start = "Step(\(step.name.swiftLiteral)\(list), run: \(line))"
        let modifiers = step.modifiers(in: folder)
        if start.count + modifiers.joined().count <= width, modifiers.count < 2 { return start + modifiers.joined() }
        if start.count <= width { return ([start] + modifiers).joined(separator: "\n        ") }
        let broken = "Step(\n        \(step.name.swiftLiteral)\(list),\n        run: \(line)\n    )"
        return ([broken] + modifiers).joined(separator: "\n    ")
    }
}

extension SeedRecipe {
    /// The same recipe, with a prefix before the names of all steps.
    fileprivate func named(_ prefix: String) -> SeedRecipe {
        func renamed(_ steps: [SeedStep]) -> [SeedStep] {
            steps.map { step in
                var step = step
                step.name = "\(prefix) \(step.name)"
                step.needs = step.needs.map { "\(prefix) \($0)" }
                return step
            }
        }
        var copy = self
        (copy.steps, copy.checks, copy.releaseSteps) = (renamed(steps), renamed(checks), renamed(releaseSteps))
        return copy
    }
}

extension SeedRecipe.SeedStep {
    /// The modifiers as Swift: `.network(.allowed)`. Globs are relative to the top of the repository, whatever folder
    /// the step runs in.
    fileprivate func modifiers(in folder: String) -> [String] {
        func list(_ globs: [String]) -> String {
            globs.map { (folder.isEmpty ? $0 : "\(folder)/\($0)").swiftLiteral }.joined(separator: ", ")
        }
        var modifiers: [String] = []
        if !folder.isEmpty { modifiers.append(".workingDirectory(\(folder.swiftLiteral))") }
        if isOnline { modifiers.append(".network(.allowed)") }
        for cache in caches { modifiers.append(".cache(\(cache.name.swiftLiteral), at: \(cache.path.swiftLiteral))") }
        if !inputs.isEmpty { modifiers.append(".inputs(\(list(inputs)))") }
        if !outputs.isEmpty { modifiers.append(".outputs(\(list(outputs)))") }
        if let timeout { modifiers.append(".timeout(.minutes(\(timeout)))") }
        for glob in results { modifiers.append(".testResults(\(source(glob))(\(list([glob]))))") }
        if !artifacts.isEmpty { modifiers.append(".artifacts(\(list(artifacts)))") }
        return modifiers
    }

    /// JUnit is declared as such. Other formats are recognised by their content.
    private func source(_ glob: String) -> String { glob.hasSuffix(".json") ? ".file" : ".junit" }
}

extension String {
    /// The text as a Swift string literal.
    var swiftLiteral: String {
        var literal = "\""
        for scalar in unicodeScalars {
            switch scalar {
            case "\"", "\\": literal += "\\\(scalar)"
            case _ where scalar.value < 0x20 || scalar.value == 0x7f:
                literal += "\\u{\(String(scalar.value, radix: 16))}"
            default: literal.unicodeScalars.append(scalar)
            }
        }
        return literal + "\""
    }

    /// A step's name as a variable name: `unit tests` becomes `unitTests`, `Swift build` becomes `swiftBuild`.
    var swiftName: String {
        let words = split { !$0.isLetter && !$0.isNumber }.map(String.init)
        guard let first = words.first else { return "step" }
        // Names such as `npm` and `CMake` all begin in lower case. A variable name can't begin with a digit.
        let start = first.first?.isNumber == true ? "step\(first)" : first.prefix(1).lowercased() + first.dropFirst()
        return start + words.dropFirst().map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
    }
}
