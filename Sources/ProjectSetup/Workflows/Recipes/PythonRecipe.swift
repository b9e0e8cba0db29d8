import Foundation
import Pipeline

/// Python, tested with pytest in a virtual environment of the workspace. pytest runs tests of `unittest`, too.
struct PythonRecipe {
    let folder: SeedFolder

    func find() -> SeedFinding? {
        let marks = [
            "pyproject.toml", "setup.py", "setup.cfg", "pytest.ini", "tox.ini", "requirements.txt", "Pipfile",
        ]
        guard let mark = marks.first(where: folder.names.contains) ?? testFolder else { return nil }
        guard hasTests else {
            // Many repositories have a pyproject.toml only for the settings of some tool.
            return isProject
                ? .doubt(
                    SeedRecipe.Doubt(file: mark, reason: "there is no file test_*.py or *_test.py"),
                    buildOnly: recipe(.placeholder)) : nil
        }
        return .recipe(
            recipe(
                .tests(
                    ".venv/bin/python -m pytest --junitxml=build/tests.xml", results: ["build/tests.xml"])))
    }

    private func recipe(_ test: SeedRecipe.SeedStep) -> SeedRecipe {
        let install =
            "python3 -m venv .venv && .venv/bin/python -m pip install --quiet \(requirements.joined(separator: " "))"
        // A build that compiles something, or reads its version from Git, writes more than the environment.
        let isPlain = isPinnable && !inputs.isEmpty
        var recipe = SeedRecipe(
            "Python", in: folder,
            resolve: .resolve(
                install, inputs: isPlain ? inputs : [], outputs: isPlain ? [".venv/**"] : [],
                caches: [("pip", "~/.cache/pip")]), test: test)
        recipe.programs = ["python3"]
        return recipe
    }

    // MARK: - Tests

    /// A test folder at this level, which is enough to recognise Python without any other file.
    private var testFolder: String? {
        guard let name = folder.first("tests", "test") else { return nil }
        return PythonRecipe.hasTests(
            SeedFolder(top: folder.top, path: folder.path.isEmpty ? name : "\(folder.path)/\(name)"))
            ? name : nil
    }

    private var hasTests: Bool { PythonRecipe.hasTests(folder) }

    private static func hasTests(_ folder: SeedFolder) -> Bool {
        folder.contains { path in
            let name = SeedFolder.name(path)
            return name.hasSuffix(".py")
                && (name.hasPrefix("test_") || name.hasSuffix("_test.py") || name == "tests.py")
        }
    }

    // MARK: - What to install

    private var manifest: String { folder.text("pyproject.toml") ?? "" }

    private var setup: String { (folder.text("setup.py") ?? "") + "\n" + (folder.text("setup.cfg") ?? "") }

    /// Whether the project itself can be installed.
    private var isProject: Bool {
        manifest.contains(/(?m)^\s*\[(project|build-system|tool\.poetry|tool\.flit)/) || folder.has("setup.py")
            || folder.text("setup.cfg")?.contains(/(?m)^\[metadata\]/) == true
    }

    /// Arguments for pip.
    private var requirements: [String] {
        var arguments: [String] = []
        if isProject { arguments += ["-e", extra.map { "\".[\($0)]\"" } ?? "."] }
        arguments += files.flatMap { ["-r", $0] }
        var named = grouped + toxRequirements
        for name in ["pytest"] + plugins where !named.contains(where: { $0.hasPrefix(name) }) { named.append(name) }
        var seen: Set<String> = []
        return arguments + named.filter { seen.insert($0).inserted }.map(\.shellQuoted)
    }

    /// Common names for the set of packages that the tests need.
    private static let sets = ["test", "tests", "testing", "dev"]

    /// The extra that contains the tests' packages: `[project.optional-dependencies]`, `extras_require`.
    private var extra: String? {
        var keys = table("project.optional-dependencies").keys + table("tool.poetry.extras").keys
        keys += ManifestTable("options.extras_require", in: folder.text("setup.cfg") ?? "").keys
        if let start = setup.range(of: "extras_require")?.upperBound {
            keys += setup[start...].matches(of: /['"](\w+)['"]\s*:/).map { String($0.1) }
        }
        return PythonRecipe.sets.first(where: keys.contains)
    }

    /// Packages of `[dependency-groups]` or of Poetry's groups, by name. pip reads those groups only since version
    /// 25.1.
    private var grouped: [String] {
        let groups = table("dependency-groups")
        for name in PythonRecipe.sets where groups.keys.contains(name) {
            return groups.strings(of: name).filter(PythonRecipe.isPlainRequirement)
        }
        let tables = PythonRecipe.sets.map { "tool.poetry.group.\($0).dependencies" } + ["tool.poetry.dev-dependencies"]
        return tables.flatMap { table($0).keys }.filter { $0 != "python" && PythonRecipe.isPlainRequirement($0) }
    }

    private func table(_ name: String) -> ManifestTable { ManifestTable(name, in: manifest) }

    private static func isPlainRequirement(_ text: String) -> Bool {
        text.wholeMatch(of: /[A-Za-z0-9][A-Za-z0-9._-]*(\[[A-Za-z0-9,_-]+\])?\s*([<>=!~]=?\s*[0-9][0-9.*,<>=!~ ]*)?/)
            != nil
    }

    private var files: [String] {
        let names = [
            "requirements.txt", "requirements-dev.txt", "requirements_dev.txt", "requirements-test.txt",
            "requirements_test.txt", "requirements-tests.txt", "dev-requirements.txt", "dev_requirements.txt",
            "test-requirements.txt", "test_requirements.txt", "requirements/test.txt", "requirements/tests.txt",
            "requirements/testing.txt", "requirements/dev.txt", "tests/requirements.txt", "test/requirements.txt",
        ]
        return names.filter(folder.has)
    }

    /// Requirements in the `deps` of tox's default environment, as far as they are plain.
    private var toxRequirements: [String] {
        ManifestTable("testenv", in: folder.text("tox.ini") ?? "").lines(of: "deps").filter(
            PythonRecipe.isPlainRequirement)
    }

    /// Plugins that the tests use without declaring them, found by their traces in the files.
    private var plugins: [String] {
        let settings = manifest + setup + (folder.text("pytest.ini") ?? "") + (folder.text("tox.ini") ?? "")
        let marks = [
            ("--cov", "pytest-cov"), ("asyncio_mode", "pytest-asyncio"), ("-n auto", "pytest-xdist"),
            ("DJANGO_SETTINGS_MODULE", "pytest-django"), ("--benchmark", "pytest-benchmark"),
        ]
        return marks.filter { settings.contains($0.0) }.map(\.1)
    }

    // MARK: - Inputs of the environment

    private var isPinnable: Bool {
        let text = manifest + setup
        let hasVersionOfGit = ["setuptools_scm", "setuptools-scm", "hatch-vcs", "versioneer", "pbr", "versioningit"]
            .contains { text.contains($0) }
        let compiles = ["ext_modules", "Extension(", "maturin", "scikit-build", "meson-python", "cython", "Cython"]
            .contains { text.contains($0) }
        return !hasVersionOfGit && !compiles
    }

    private var inputs: [String] {
        let names = ["pyproject.toml", "setup.py", "setup.cfg", "tox.ini", "README.md", "README.rst"]
        let found = names.filter(folder.keeps) + files
        // An installed project contains its packages, and may read its version from one.
        return isProject ? found + ["**/__init__.py", "**/*version*"] : found
    }
}
