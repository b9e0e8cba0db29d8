import WorkflowPrograms

/// Everything in a repository that can be built and tested, and what could not be told.
struct SeedSurvey {
    private(set) var recipes: [SeedRecipe] = []
    /// Tools that are in use without anything to test.
    private(set) var doubts: [SeedRecipe.Doubt] = []
    /// What would be built with the tests still to be written, for the first of the doubts that can be built.
    private(set) var buildOnly: SeedRecipe?

    /// Projects of one repository that are written into its workflows, at most.
    static let most = 8

    init(of top: String, manifest: PackageManifest?) {
        let folder = SeedFolder(top: top)
        let own = look(into: folder, manifest, besides: [])
        // A project at the top and one right below it are one repository's; further down there are too many that are
        // examples or copies. Of a tool that the top uses, it builds what lies below, too.
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

    /// Notes what one folder holds, and returns the tools that it uses, also those without tests.
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
