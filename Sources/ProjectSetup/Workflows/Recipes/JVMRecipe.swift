import Pipeline

/// Java and Kotlin: Gradle, else Maven.
struct JVMRecipe {
    let folder: SeedFolder

    func find() -> SeedFinding? {
        if folder.names.contains("build.gradle") || folder.names.contains("build.gradle.kts")
            || folder.names.contains("settings.gradle") || folder.names.contains("settings.gradle.kts")
        {
            return found("build.gradle", gradle)
        }
        return folder.names.contains("pom.xml") ? found("pom.xml", maven) : nil
    }

    private func found(_ file: String, _ recipe: (SeedRecipe.SeedStep?) -> SeedRecipe) -> SeedFinding {
        let hasTests = folder.contains { path in
            path.hasPrefix("src/test/") || path.contains("/src/test/") || path.contains(/(^|\/)src\/\w+Test\//)
        }
        if hasTests { return .recipe(recipe(nil)) }
        return .doubt(
            SeedRecipe.Doubt(file: file, reason: "there is no folder src/test"), buildOnly: recipe(.placeholder))
    }

    private func gradle(_ test: SeedRecipe.SeedStep?) -> SeedRecipe {
        let gradle = folder.has("gradlew") ? "./gradlew" : "gradle"
        // The cache is in the workspace, so that a warm workspace has the fetched libraries.
        let home = "GRADLE_USER_HOME=\"$PWD/.gradle-home\" \(gradle) --no-daemon"
        var recipe = SeedRecipe(
            "Gradle", in: folder,
            // Compiling the tests fetches everything that compiling and running them needs.
            resolve: .resolve("\(home) testClasses"), build: "\(home) --offline testClasses",
            test: test
                ?? .tests("\(home) --offline test", results: ["**/build/test-results/**/*.xml"], timeout: 30),
            release: "\(home) --offline assemble")
        recipe.programs = folder.has("gradlew") ? ["java"] : ["gradle"]
        return recipe
    }

    private func maven(_ test: SeedRecipe.SeedStep?) -> SeedRecipe {
        let maven = "\(folder.has("mvnw") ? "./mvnw" : "mvn") -B -Dmaven.repo.local=.m2"
        var recipe = SeedRecipe(
            "Maven", in: folder, resolve: .resolve("\(maven) dependency:go-offline"),
            build: "\(maven) -o test-compile",
            test: test
                ?? .tests("\(maven) -o verify", results: ["**/target/surefire-reports/*.xml"], timeout: 30),
            release: "\(maven) -o package -DskipTests")
        recipe.programs = folder.has("mvnw") ? ["java"] : ["mvn"]
        return recipe
    }
}
