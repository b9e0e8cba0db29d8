import WorkflowPrograms

/// Everything in a repository that can be built and tested, and the tools that could not be turned into steps.
struct SeedSurvey {
    private(set) var recipes: [SeedRecipe] = []
    /// Tools that are in use without tests.
    private(set) var doubts: [SeedRecipe.Doubt] = []
    /// A recipe that builds, with a placeholder for the tests: for the first of the doubts that can be built.
    private(set) var buildOnly: SeedRecipe?

    /// The most projects that are written into a repository's workflows.
    static let most = 8

    init(of top: String, manifest: PackageManifest?) {
        let folder = SeedFolder(top: top)
        let own = look(into: folder, manifest, besides: [])
        // Projects at the top and one level below belong to the repository; deeper ones are often examples or copies.
        // If the top uses a tool, that tool also builds the folders below.
        for sub in folder.subfolders {
            let found = look(into: sub, nil, besides: own)
            if own.isEmpty, found.isEmpty { for deeper in sub.subfolders { _ = look(into: deeper, nil, besides: []) } }
        }
        if recipes.isEmpty, let found = MakeRecipe(folder: folder).find() { take(found, in: folder) }
        if recipes.count > SeedSurvey.most {
            let left = recipes[SeedSurvey.most...].map(\.folder).joined(separator: ", ")
            doubts.append(
                SeedRecipe.Doubt(file: left, reason: "only the first \(SeedSurvey.most) projects are written"))
            recipes = Array(recipes.prefix(SeedSurvey.most))
        }
    }

    /// Records what one folder contains, and returns the tools that it uses, also those without tests.
    private mutating func look(
        into folder: SeedFolder, _ manifest: PackageManifest?, besides tools: Set<String>
    ) -> Set<String> {
        let finders: [(tool: String, find: () -> SeedFinding?)] = [
            ("Swift", { SwiftRecipe(folder: folder, manifest: manifest).find() }),
            (
                "Xcode",
                { folder.names.contains("Package.swift") ? nil : XcodeRecipe(folder: folder).find() }
            ),
            ("native", { NativeRecipe(folder: folder).find() }), ("Cargo", { CargoRecipe(folder: folder).find() }),
            ("Go", { GoRecipe(folder: folder).find() }), ("npm", { NodeRecipe(folder: folder).find() }),
            ("Python", { PythonRecipe(folder: folder).find() }), ("JVM", { JVMRecipe(folder: folder).find() }),
        ]
        var used: Set<String> = []
        for finder in finders where !tools.contains(finder.tool) {
            guard let found = finder.find() else { continue }
            used.insert(finder.tool)
            take(found, in: folder)
        }
        return used
    }

    private mutating func take(_ found: SeedFinding, in folder: SeedFolder) {
        switch found {
        case .recipe(let recipe): recipes.append(recipe)
        case .doubt(var doubt, let build):
            if !folder.path.isEmpty { doubt.file = "\(folder.path)/\(doubt.file)" }
            doubts.append(doubt)
            buildOnly = buildOnly ?? build
        }
    }
}
