import Pipeline

/// A Go module.
struct GoRecipe {
    let folder: SeedFolder

    func find() -> SeedFinding? {
        guard folder.names.contains("go.mod") else { return nil }
        let hasDependencies = folder.text("go.mod")?.contains(/(?m)^\s*require\b/) ?? false
        let isVendored = folder.has("vendor/modules.txt")
        // The caches are in the workspace, so that a warm workspace has the fetched and built packages. Go ignores
        // folders whose names begin with a dot.
        let cache = "GOPATH=\"$PWD/.go\" GOCACHE=\"$PWD/.go/build\" GOFLAGS=\"$GOFLAGS -modcacherw\""
        func recipe(_ test: SeedRecipe.SeedStep) -> SeedRecipe {
            var recipe = SeedRecipe(
                "Go", in: folder,
                resolve: hasDependencies && !isVendored
                    ? .resolve(
                        "\(cache) go mod download", inputs: ["go.mod"] + (folder.has("go.sum") ? ["go.sum"] : []))
                    : nil,
                build: "\(cache) go build ./...", test: test)
            recipe.programs = ["go"]
            return recipe
        }
        guard folder.contains(where: { $0.hasSuffix("_test.go") }) else {
            return .doubt(
                SeedRecipe.Doubt(file: "go.mod", reason: "there is no file *_test.go"),
                buildOnly: recipe(.placeholder))
        }
        return .recipe(
            recipe(
                .tests(
                    "mkdir -p build && \(cache) go test -json ./... > build/go-test.json",
                    results: ["build/go-test.json"])))
    }
}
