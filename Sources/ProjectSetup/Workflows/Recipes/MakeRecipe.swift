import Pipeline

/// A makefile with a test target. It is used only if no other tool is found.
struct MakeRecipe {
    let folder: SeedFolder

    func find() -> SeedFinding? {
        guard let file = ["GNUmakefile", "makefile", "Makefile"].first(where: folder.names.contains),
            let text = folder.text(file)
        else { return nil }
        let targets = Set(
            text.split(separator: "\n").flatMap { line -> [String] in
                guard let match = line.prefixMatch(of: /([A-Za-z0-9_.\/ -]+?)\s*::?(?!=)/) else { return [] }
                return match.1.split(separator: " ").map(String.init)
            })
        func recipe(_ test: SeedRecipe.SeedStep) -> SeedRecipe {
            var recipe = SeedRecipe("Make", in: folder, build: "make", test: test)
            recipe.programs = ["make"]
            return recipe
        }
        guard let target = ["check", "test", "tests"].first(where: targets.contains) else {
            return .doubt(
                SeedRecipe.Doubt(file: file, reason: "it has no target named check, test or tests"),
                buildOnly: recipe(.placeholder))
        }
        return .recipe(recipe(.tests("make \(target)")))
    }
}
