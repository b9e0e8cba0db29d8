import Foundation
import Pipeline
import WorkflowPrograms

/// A Swift package.
struct SwiftRecipe {
    let folder: SeedFolder
    /// The parsed manifest; nil if SwiftPM could not read it. Then its text is searched.
    let manifest: PackageManifest?

    func find() -> SeedFinding? {
        guard folder.names.contains("Package.swift") else { return nil }
        if hasTests { return .recipe(recipe(tests: SwiftRecipe.tests)) }
        return .doubt(
            SeedRecipe.Doubt(file: "Package.swift", reason: "it declares no test target"),
            buildOnly: recipe(tests: .placeholder))
    }

    /// The text of all its manifests: the compiler's version decides which one SwiftPM reads.
    private var text: String {
        let names = folder.names.filter { $0 == "Package.swift" || $0.hasPrefix("Package@swift-") }.sorted()
        return names.compactMap { folder.text($0) }.joined(separator: "\n")
            .split(separator: "\n", omittingEmptySubsequences: false)
            .filter { !$0.drop { $0 == " " || $0 == "\t" }.hasPrefix("//") }.joined(separator: "\n")
    }

    private var hasTests: Bool {
        manifest.map { !$0.testTargets.isEmpty } ?? text.contains(".testTarget(")
    }

    private static let tests = SeedRecipe.SeedStep.tests(
        "swift test --skip-build --parallel --xunit-output .build/tests.xml", results: [".build/tests*.xml"])

    private func recipe(tests: SeedRecipe.SeedStep) -> SeedRecipe {
        var recipe = SeedRecipe(
            "Swift", in: folder,
            resolve: .resolve(
                "swift package resolve",
                // If the versions are pinned, this step must run again only when the pins change.
                inputs: folder.keeps("Package.resolved") ? ["Package.swift", "Package.resolved"] : []),
            build: "swift build --build-tests", test: tests, release: "swift build -c release")
        recipe.programs = ["swift"]
        if folder.has(".swift-format") {
            let folders = ["Package.swift", "Sources", "Tests"].filter(folder.has).joined(separator: " ")
            recipe.checks = [
                SeedRecipe.SeedStep(name: "format", command: "swift format lint --strict --recursive \(folders)")
            ]
        }
        recipe.archive = archive
        return recipe
    }

    /// The names of the manifest's executables.
    private var executables: [String] {
        if let manifest { return manifest.executables.filter { $0.wholeMatch(of: /[A-Za-z0-9._-]+/) != nil } }
        let products = text.matches(of: /\.executable\(\s*name:\s*"([A-Za-z0-9._-]+)"/).map { String($0.1) }
        let targets = text.matches(of: /\.executableTarget\(\s*name:\s*"([A-Za-z0-9._-]+)"/).map { String($0.1) }
        return Array(Set(products.isEmpty ? targets : products)).sorted()
    }

    private var archive: SeedRecipe.Archive? {
        guard !executables.isEmpty else { return nil }
        let files = executables.map(\.shellQuoted).joined(separator: " ")
        let comment = "Sorted, without owners, dated by the commit: equal contents make equal bytes."
        let show = "$(swift build -c release --show-bin-path)"
        #if os(macOS)
            // bsdtar has neither --mtime nor --sort.
            return SeedRecipe.Archive(
                lines: [
                    "bin=\"\(show)\"",
                    "(cd \"$bin\" && touch -t 198001010000 \(files))",
                    "tar -C \"$bin\" -cf - --uid 0 --gid 0 \(files) | gzip -9n > \"dist/$name.tar.gz\"",
                ], comment: comment)
        #else
            return SeedRecipe.Archive(
                lines: [
                    "tar --sort=name --format=gnu --mtime=@$(git log -1 --format=%ct) --owner=0 --group=0 --numeric-owner \\\\",
                    "    --mode=go=rX -C \"\(show)\" -cf - \(files) \\\\",
                    "    | gzip -9n > \"dist/$name.tar.gz\"",
                ], comment: comment)
        #endif
    }
}
