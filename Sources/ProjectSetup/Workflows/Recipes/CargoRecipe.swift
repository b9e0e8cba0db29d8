import Pipeline

/// A crate, or a workspace of crates.
struct CargoRecipe {
    let folder: SeedFolder

    func find() -> SeedFinding? {
        guard folder.names.contains("Cargo.toml") else { return nil }
        let locked = folder.keeps("Cargo.lock") ? " --locked" : ""
        // The cache is in the workspace, so that a warm workspace has the fetched crates.
        let home = "CARGO_HOME=\"$PWD/.cargo-home\""
        func recipe(_ test: SeedRecipe.SeedStep) -> SeedRecipe {
            var recipe = SeedRecipe(
                "Cargo", in: folder,
                resolve: .resolve(
                    "\(home) cargo fetch\(locked)", inputs: locked.isEmpty ? [] : ["**/Cargo.toml", "Cargo.lock"]),
                build: "\(home) cargo build --workspace --all-targets --offline\(locked)", test: test,
                release: "\(home) cargo build --workspace --release --offline\(locked)")
            recipe.programs = ["cargo"]
            if folder.has("rustfmt.toml") || folder.has(".rustfmt.toml") {
                recipe.checks = [SeedRecipe.SeedStep(name: "format", command: "cargo fmt --check")]
            }
            return recipe
        }
        guard hasTests else {
            return .doubt(
                SeedRecipe.Doubt(file: "Cargo.toml", reason: "no .rs file has a test"),
                buildOnly: recipe(.placeholder))
        }
        // nextest writes JUnit if its configuration says so; `cargo test` writes no report that can be read.
        if folder.text(".config/nextest.toml")?.contains("junit") == true {
            return .recipe(
                recipe(
                    .tests(
                        "\(home) cargo nextest run --workspace --offline\(locked)",
                        results: ["target/nextest/**/*.xml"])))
        }
        var tests = SeedRecipe.SeedStep.tests("\(home) cargo test --workspace --offline\(locked)")
        tests.comment =
            "Each test by name in the report? `cargo nextest run` with junit in .config/nextest.toml writes one."
        return .recipe(recipe(tests))
    }

    private var hasTests: Bool {
        folder.contains { path in
            path.hasSuffix(".rs")
                && folder.text(path)?.contains(/#\[(\w+::)*(test|rstest|test_case|quickcheck)\b|\/\/[\/!] ```/) ?? false
        }
    }
}
