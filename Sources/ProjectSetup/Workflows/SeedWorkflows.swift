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
    package private(set) var recipes: [SeedRecipe]
    /// Parts of the repository that these workflows do not test, with the reasons.
    package let doubts: [SeedRecipe.Doubt]
    /// What a person should know or do, a sentence each.
    let notes: [String]
    /// Whether the projects were found, not given.
    private let isFound: Bool

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
        isFound = if case .command = source { false } else { true }
        let target = (branch ?? project.branch).swiftLiteral
        let apps = SeedApps(recipes)
        recipes.removeAll { apps.left.contains($0.folder) && $0.xcode != nil }
        var list = SeedList()
        let others = recipes.filter { apps.only == nil || $0.xcode == nil }
        if !others.isEmpty {
            let text = SeedText(others)
            list.add("test", "test", SeedWorkflows.test(text, into: target))
        }
        let prefix = others.isEmpty ? "" : "app "
        if let app = apps.only {
            let name = "\(prefix)test"
            list.add(name.swiftName, name, app.test(into: target, variable: name.swiftName, name: name))
        }
        // Beside an app of Flutter or React Native is that app's own code, which is released with it.
        let hasOwnRelease = !others.isEmpty && apps.only?.preparation.framework == nil
        if hasOwnRelease {
            let archive = others.lazy.compactMap(\.archive).first
            list.add(
                "release", "release",
                SeedWorkflows.release(SeedText(others), archive, into: target, name: project.name))
        }
        var notes = apps.notes
        if let app = apps.only {
            let name = hasOwnRelease ? "\(prefix)release" : "release"
            list.add(name.swiftName, name, app.release(into: target, variable: name.swiftName, name: name))
            notes.append(
                "\(list.files.last?.path ?? ""): write your values for \(app.placeholders.joined(separator: ", ")); "
                    + "`pipectl validate` refuses them until then (docs/guide/app-store.md)")
        }
        self.notes = notes
        files = list.all
    }

    /// What `init` says about the repository, a line each.
    ///
    /// - Parameters:
    ///   - isMac: Whether this machine is a Mac.
    ///   - has: Whether a program is installed on this machine.
    package func remarks(isMac: Bool = SeedRecipe.isOnMac, has: (_ program: String) -> Bool) -> [String] {
        var lines: [String] = []
        if isFound {
            let found = recipes.map { recipe in
                [recipe.xcode?.preparation.framework?.rawValue, recipe.tool].compactMap(\.self).joined(
                    separator: " with ")
                    + (recipe.folder.isEmpty ? "" : " in \(recipe.folder)/")
            }
            lines.append("found: \(found.joined(separator: ", "))")
            lines += doubts.map { "not tested: \($0)" } + notes
        }
        // What an app needs must be on the Mac that builds it.
        let here = recipes.filter { isMac || $0.xcode == nil }
        for program in Set(here.flatMap(\.programs)).sorted() where !has(program) {
            lines.append("\(program) is not in PATH: install it before the first run")
        }
        if here.count < recipes.count {
            lines.append(
                "Xcode runs on a Mac, and this machine is none: add one with `pipectl machines add ssh://USER@HOST` "
                    + "(docs/guide/machines.md)")
        }
        return lines
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

    private static func test(_ text: SeedText, into target: String) -> String {
        """
        import Pipeline

        /// Tests every change as it would look once merged.
        let test = Workflow("test", on: .pullRequest(into: \(target))) {
        \(text.tests)}\(text.machine)

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
            }\(text.machine)

            """
    }
}

/// The files of the workflows, and the list of these.
private struct SeedList {
    private var variables: [String] = []
    private(set) var files: [SeedFile] = []

    mutating func add(_ variable: String, _ name: String, _ text: String) {
        variables.append(variable)
        files.append(SeedFile(path: "workflows/\(name.replacing(" ", with: "-")).swift", text: text))
    }

    /// With the file that lists the workflows, which is the first.
    var all: [SeedFile] {
        let text = """
            import Pipeline

            // Every workflow of this repository; pipectl asks this list. `pipectl validate` checks it.
            @main struct Workflows: WorkflowSet { static let workflows = [\(variables.joined(separator: ", "))] }

            """
        return [SeedFile(path: "workflows/Workflows.swift", text: text)] + files
    }
}
