import Foundation
import Pipeline

/// A package of npm, pnpm or Yarn, where its `package.json` has a script that tests.
struct NodeRecipe {
    let folder: SeedFolder

    /// The relevant fields of a `package.json`.
    private struct Package: Decodable {
        var scripts: [String: String]?
        var dependencies: [String: String]?
        var devDependencies: [String: String]?
    }

    func find() -> SeedFinding? {
        guard folder.names.contains("package.json"), let text = folder.text("package.json") else { return nil }
        guard let package = try? JSONDecoder().decode(Package.self, from: Data(text.utf8)) else {
            return .doubt(SeedRecipe.Doubt(file: "package.json", reason: "it can't be read as JSON"))
        }
        let tests = package.scripts?["test"] ?? ""
        // `npm init` writes a test script that only prints that there are no tests.
        guard !tests.isEmpty, !tests.contains("no test specified") else {
            return .doubt(SeedRecipe.Doubt(file: "package.json", reason: "it has no script named test"))
        }
        return .recipe(recipe(package, tests: tests))
    }

    /// What fetches the packages, the program for that, and the file with their versions.
    private var fetching: (install: String, tool: String, lock: String?) {
        folder.has("pnpm-lock.yaml")
            ? ("pnpm install --frozen-lockfile", "pnpm", "pnpm-lock.yaml")
            : folder.has("yarn.lock")
                ? ("yarn install --frozen-lockfile", "yarn", "yarn.lock")
                : folder.has("package-lock.json")
                    ? ("npm ci", "npm", "package-lock.json") : ("npm install", "npm", nil)
    }

    /// What fetches the packages of an app with React Native, and the program for that; nil if there is none.
    var reactNative: (install: String, tool: String)? {
        guard let text = folder.text("package.json"),
            let package = try? JSONDecoder().decode(Package.self, from: Data(text.utf8)),
            package.dependencies?["react-native"] != nil
        else { return nil }
        return (fetching.install, fetching.tool)
    }

    private func recipe(_ package: Package, tests: String) -> SeedRecipe {
        let (install, tool, lock) = fetching
        let needsInstall =
            lock != nil || !(package.dependencies ?? [:]).isEmpty || !(package.devDependencies ?? [:]).isEmpty
        let (command, results) = reporting(tests, tool: tool)
        var recipe = SeedRecipe(
            "npm", in: folder,
            resolve: needsInstall
                ? .resolve(
                    install, inputs: lock.map { ["package.json", $0] } ?? [],
                    outputs: lock == nil ? [] : ["node_modules/**"]) : nil,
            build: package.scripts?["build"] == nil ? nil : "\(tool) run build", test: .tests(command, results: results)
        )
        recipe.programs = [tool]
        return recipe
    }

    /// The test command, with arguments that make its runner write a report, if it can.
    private func reporting(_ script: String, tool: String) -> (command: String, results: [String]) {
        let plain = "\(tool) test"
        // Arguments reach the runner only if it is the script's only command.
        guard !script.contains(where: { "&|;><\n`$(".contains($0) }) else { return (plain, []) }
        let words = script.split(separator: " ").map(String.init)
            .drop { $0 == "npx" || $0 == "cross-env" || $0.contains("=") }
        let separator = tool == "npm" ? " -- " : " "
        switch words.first {
        case "jest":
            return ("\(plain)\(separator)--json --outputFile=build/jest.json", ["build/jest.json"])
        case "vitest":
            // Without `--run`, vitest watches for changes when it has a terminal.
            return (
                "\(plain)\(separator)--run --reporter=default --reporter=junit --outputFile.junit=build/tests.xml",
                ["build/tests.xml"]
            )
        case "mocha":
            return (
                "\(plain)\(separator)--reporter json --reporter-option output=build/mocha.json", ["build/mocha.json"]
            )
        case "node" where words.contains("--test"):
            // Node reads options only before the files, so they are passed in the environment variable.
            return (
                "mkdir -p build && NODE_OPTIONS=\"--test-reporter=spec --test-reporter-destination=stdout "
                    + "--test-reporter=junit --test-reporter-destination=build/tests.xml\" \(plain)",
                ["build/tests.xml"]
            )
        default: return (plain, [])
        }
    }
}
