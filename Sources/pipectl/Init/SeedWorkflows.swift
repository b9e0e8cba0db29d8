import Foundation
import Pipeline

/// One file that `pipectl init` writes.
struct SeedFile: Sendable, Equatable {
    /// From the top of the repository: `workflows/test.swift`.
    var path: String
    var text: String
}

/// The workflows that a repository starts with: test on every change, release on every merge.
///
/// They are the first workflow that most people read, so they are short and say why where it is not plain.
enum SeedWorkflows {
    /// The files for the repository in `directory`; nothing is written.
    ///
    /// - Parameter branch: The branch that changes go into; nil means: what the repository's own refs say.
    /// - Throws: ``SeedError`` when the repository has workflows already.
    static func files(for directory: String, branch: String? = nil) throws -> [SeedFile] {
        let existing = existing(in: directory)
        guard existing.isEmpty else { throw SeedError(existing: existing) }
        let project = SeedProject(directory: directory)
        let target = (branch ?? project.branch).swiftLiteral
        let recipe = project.recipe
        return [
            SeedFile(path: "workflows/Workflows.swift", text: entryPoint),
            SeedFile(path: "workflows/test.swift", text: test(recipe, into: target)),
            SeedFile(path: "workflows/release.swift", text: release(recipe, into: target, name: project.name)),
        ]
    }

    /// Writes the files, all or none of them.
    ///
    /// - Returns: The paths that were written, from the top of the repository.
    /// - Throws: ``SeedError`` when one is there already: nothing is ever overwritten.
    @discardableResult
    static func write(to directory: String, branch: String? = nil) throws -> [String] {
        let seeds = try files(for: directory, branch: branch)
        try SeedFolder(named: "workflows", in: directory).write(seeds)
        return seeds.map(\.path)
    }

    private static func existing(in directory: String) -> [String] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "\(directory)/workflows")) ?? []
        return names.filter { $0.hasSuffix(".swift") }.sorted().map { "workflows/\($0)" }
    }

    private static let entryPoint = """
        import Pipeline

        // Every workflow of this repository; pipectl asks this list. `pipectl validate` checks it.
        @main struct Workflows: WorkflowSet { static let workflows = [test, release] }

        """

    private static func test(_ recipe: SeedRecipe, into target: String) -> String {
        var text = """
            import Pipeline

            /// Tests every change as it would look once merged.
            let test = Workflow("test", on: .pullRequest(into: \(target))) {

            """
        text += recipe.body(of: recipe.steps + recipe.checks)
        return text + "}\n"
    }

    private static func release(_ recipe: SeedRecipe, into target: String, name: String) -> String {
        let after = recipe.releaseSteps.last?.name
        var text = """
            import Pipeline

            /// Builds and tests what was merged once more, from nothing, and keeps an archive with its checksum.
            let release = Workflow("release", on: .merge(into: \(target))) {

            """
        text += recipe.body(of: recipe.releaseSteps, lastIsNeeded: true)
        let needs = after.map { ", needs: \($0.swiftName)" } ?? ""
        let lines = ["mkdir -p dist", "name=\(name)-$(git describe --tags --always | tr / -)"] + recipe.archive
        text += """
                // \(recipe.archiveComment)
                Step(
                    "archive"\(needs),
                    run: \"""
                        \(lines.joined(separator: "\n            "))
                        cd dist && \(SeedRecipe.checksum) "$name.tar.gz" > SHA256SUMS
                        \"""
                )
                .artifacts("dist/*.tar.gz", "dist/SHA256SUMS")
            }

            """
        return text
    }
}

/// The repository has workflows already.
struct SeedError: Error, Sendable, Equatable, CustomStringConvertible {
    /// From the top of the repository.
    let existing: [String]

    var description: String {
        "\(existing.joined(separator: ", ")) \(existing.count == 1 ? "is" : "are") here already; nothing was written. "
            + "`pipectl validate` checks what is there."
    }
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

    /// A step's name as a variable: `unit tests` becomes `unitTests`.
    var swiftName: String {
        let words = split { !$0.isLetter && !$0.isNumber }
        return words.enumerated().map { $0.offset == 0 ? String($0.element) : $0.element.capitalized }.joined()
    }
}
