import Pipeline

/// An Xcode project or workspace, built with one of its shared schemes.
struct XcodeRecipe {
    let folder: SeedFolder

    func find() -> SeedFinding? {
        guard let container else { return nil }
        let schemes = XcodeScheme.shared(by: container, in: folder)
        guard let choice = XcodeSchemeChoice(among: schemes, project: SeedFolder.stem(container)) else {
            return .doubt(
                SeedRecipe.Doubt(
                    file: container,
                    reason: "no scheme is shared; share one in Xcode (Product > Scheme > Manage Schemes > Shared), "
                        + "commit it, and run `pipectl init` again"))
        }
        return .recipe(recipe(XcodeSeed(folder, container: container, schemes: choice)))
    }

    private var container: String? {
        func first(_ suffix: String) -> String? { folder.names.filter { $0.hasSuffix(suffix) }.min() }
        if let workspace = first(".xcworkspace") { return workspace }
        guard let project = first(".xcodeproj") else { return nil }
        // `pod install` makes a workspace of this name, which Git may ignore.
        return folder.names.contains("Podfile") ? "\(SeedFolder.stem(project)).xcworkspace" : project
    }

    private func recipe(_ seed: XcodeSeed) -> SeedRecipe {
        // The framework's own steps run in another folder; where there are several apps, only those of this one are
        // written.
        var steps = seed.preparation.parts.filter { $0.folder == folder.path }.map(\.step)
        steps.append(.resolve(seed.xcodebuild("-resolvePackageDependencies", in: .folder)))
        steps.append(seed.tests(in: .folder))
        for index in steps.indices { steps[index].needs = index == 0 ? [] : [steps[index - 1].name] }
        var recipe = SeedRecipe("Xcode", in: folder, steps: steps, releaseSteps: steps)
        recipe.programs = Set(["xcodebuild"] + seed.preparation.parts.map(\.program)).sorted()
        recipe.xcode = seed
        return recipe
    }
}
