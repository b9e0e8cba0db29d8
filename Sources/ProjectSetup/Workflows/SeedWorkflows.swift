import Foundation
import Pipeline

/// A file of the first workflows.
struct SeedFile: Sendable, Equatable {
    /// Relative to the top of the repository.
    var path: String
    var text: String
}

/// The first workflows of a repository: a test on pull request and a release on merge.
package struct SeedWorkflows {
    /// Where the steps come from.
    package enum Source: Sendable {
        /// From the content of the repository.
        case survey
        /// From a shell command that the user gave.
        case command(String)
        /// Like `survey`; if that finds no tests, a step that fails until a person writes them.
        case placeholder
    }

    let files: [SeedFile]
    /// The projects whose steps are written.
    package let recipes: [SeedRecipe]
    /// Parts of the repository that these workflows do not test, with the reasons.
    package let doubts: [SeedRecipe.Doubt]

    /// - Parameter branch: The branch that changes go into; nil: taken from the repository's refs.
    /// - Throws: ``SeedError`` if nothing is found that can be tested.
    package init(for project: SeedProject, branch: String? = nil, source: Source = .survey) throws(SeedError) {
        let survey = SeedSurvey(of: project.directory, manifest: project.manifest)
        let top = SeedFolder(top: project.directory)
        doubts = survey.doubts
        switch source {
        case .command(let line):
            recipes = [SeedRecipe("Tests", in: top, test: .tests(line))]
        case .survey where survey.recipes.isEmpty: throw .untestable(survey.doubts)
        case .placeholder where survey.recipes.isEmpty:
            recipes = [survey.buildOnly ?? SeedRecipe("Tests", in: top, test: .placeholder)]
        case .survey, .placeholder: recipes = survey.recipes
        }
        let target = (branch ?? project.branch).swiftLiteral
        // An app has its own workflows. Beside other projects, or below the top, it is tested only.
        if recipes.count == 1, recipes[0].folder.isEmpty, let xcode = recipes[0].xcode {
            files = [
                SeedFile(path: "workflows/Workflows.swift", text: SeedWorkflows.entryPoint),
                SeedFile(path: "workflows/test.swift", text: xcode.test(into: target)),
                SeedFile(path: "workflows/release.swift", text: xcode.release(into: target)),
            ]
            return
        }
        files = [
            SeedFile(path: "workflows/Workflows.swift", text: SeedWorkflows.entryPoint),
            SeedFile(path: "workflows/test.swift", text: SeedWorkflows.test(SeedText(recipes), into: target)),
            SeedFile(
                path: "workflows/release.swift",
                text: SeedWorkflows.release(
                    SeedText(recipes), recipes.lazy.compactMap(\.archive).first, into: target, name: project.name)),
        ]
    }

    /// Writes all files, or none if one exists already or can't be written.
    ///
    /// - Returns: The written paths, relative to the top of the repository.
    /// - Throws: ``SeedError`` or ``SeedObstacle``.
    @discardableResult
    package func write(to directory: String) throws -> [String] {
        let folder = "\(directory)/workflows"
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        let existing = names.filter { $0.hasSuffix(".swift") }.sorted().map { "workflows/\($0)" }
        guard existing.isEmpty else { throw SeedError.exists(existing) }
        try SeedDestination(named: "workflows", in: directory).write(files)
        return files.map(\.path)
    }

    private static let entryPoint = """
        import Pipeline

        // Every workflow of this repository; pipectl asks this list. `pipectl validate` checks it.
        @main struct Workflows: WorkflowSet { static let workflows = [test, release] }

        """

    private static func test(_ text: SeedText, into target: String) -> String {
        """
        import Pipeline

        /// Tests every change as it would look once merged.
        let test = Workflow("test", on: .pullRequest(into: \(target))) {
        \(text.tests)}

        """
    }

    private static func release(
        _ text: SeedText, _ archive: SeedRecipe.Archive?, into target: String, name: String
    ) -> String {
        let archive = archive ?? SeedRecipe.Archive()
        let needs = text.lastOfRelease.isEmpty ? "" : ", needs: \(text.lastOfRelease.joined(separator: ", "))"
        let lines = ["mkdir -p dist", "name=\(name)-$(git describe --tags --always | tr / -)"] + archive.lines
        return """
            import Pipeline

            /// \(text.releaseSentence).
            let release = Workflow("release", on: .merge(into: \(target))) {
            \(text.release)
                // \(archive.comment)
                let archive = Step(
                    "archive"\(needs),
                    run: \"""
                        \(lines.joined(separator: "\n            "))
                        cd dist && \(SeedRecipe.checksum) "$name.tar.gz" > SHA256SUMS
                        \"""
                )
                .artifacts("dist/*.tar.gz", "dist/SHA256SUMS")
                archive
                // A version with notes and provenance, which `pipectl releases` lists and others can install:
                // let version = Release(version: .counted("1.0"), files: "dist/*.tar.gz", needs: archive)
                // Step.publish("in a folder", version, to: .folder("/srv/releases"))
            }

            """
    }
}
