import Pipeline

/// C and C++: CMake, else Meson, else the autotools.
struct NativeRecipe {
    let folder: SeedFolder

    func find() -> SeedFinding? {
        if folder.names.contains("CMakeLists.txt"), let text = folder.text("CMakeLists.txt") {
            // Swift packages contain a CMakeLists.txt for the build of the toolchain itself.
            let isOfSwift = folder.names.contains("Package.swift") && text.contains(/LANGUAGES[^)]*Swift/)
            return isOfSwift ? nil : cmake(text)
        }
        if folder.names.contains("meson.build") { return meson }
        if folder.names.contains("configure.ac") { return autotools }
        return nil
    }

    /// A build folder whose name the repository does not use itself.
    private var build: String { folder.has("build") ? "cmake-build" : "build" }

    private func cmake(_ text: String) -> SeedFinding {
        let options = NativeRecipe.testOptions(text).map { " -D\($0)=ON" }.joined()
        let configure = "cmake -S . -B \(build)\(options)"
        let make = "cmake --build \(build) --parallel"
        func recipe(_ test: SeedRecipe.SeedStep) -> SeedRecipe {
            var recipe = SeedRecipe(
                "CMake", in: folder, build: "\(configure) && \(make)", test: test,
                release: "\(configure) -DCMAKE_BUILD_TYPE=Release && \(make)")
            recipe.programs = ["cmake", "ctest"]
            return recipe
        }
        guard hasTests else {
            return .doubt(
                SeedRecipe.Doubt(file: "CMakeLists.txt", reason: "no CMakeLists.txt calls add_test or enable_testing"),
                buildOnly: recipe(.placeholder))
        }
        return .recipe(
            recipe(
                .tests(
                    // ctest resolves this path relative to its test folder.
                    "ctest --test-dir \(build) --output-on-failure --no-tests=error --output-junit tests.xml",
                    results: ["\(build)/tests.xml"])))
    }

    private var hasTests: Bool {
        folder.contains { path in
            let name = SeedFolder.name(path)
            guard name == "CMakeLists.txt" || name.hasSuffix(".cmake"), let text = folder.text(path) else {
                return false
            }
            return text.contains(/(?i)\b(add_test|enable_testing|gtest_discover_tests|catch_discover_tests)\s*\(/)
                || text.contains(/(?i)include\s*\(\s*CTest\s*\)/)
        }
    }

    /// Options that build the project's tests and are off by default.
    static func testOptions(_ text: String) -> [String] {
        let form = /(?i:option)\s*\(\s*([A-Za-z0-9_]+)\s+("[^"]*"\s*)?([A-Za-z]*)\s*\)/
        return text.matches(of: form).compactMap { match in
            let name = String(match.1)
            let isOff = match.3.isEmpty || ["OFF", "NO", "FALSE"].contains(match.3.uppercased())
            // BUILD_TESTS, FOO_BUILD_TESTING, foo_enable_tests, JSON_BuildTests.
            let isOfTests = name.contains(/(?i)^(.*_)?(build|enable|with)_?(unit_?)?test(s|ing)?$/)
            return isOff && isOfTests ? name : nil
        }
    }

    private var meson: SeedFinding {
        let hasTests = folder.contains {
            SeedFolder.name($0) == "meson.build" && folder.text($0)?.contains(/(?m)^\s*(\w+\.)?test\s*\(/) ?? false
        }
        let setup = "if [ ! -d builddir ]; then meson setup builddir; fi && meson compile -C builddir"
        func recipe(_ test: SeedRecipe.SeedStep) -> SeedRecipe {
            var recipe = SeedRecipe("Meson", in: folder, build: setup, test: test)
            recipe.programs = ["meson"]
            return recipe
        }
        guard hasTests else {
            return .doubt(
                SeedRecipe.Doubt(file: "meson.build", reason: "no meson.build calls test()"),
                buildOnly: recipe(.placeholder))
        }
        return .recipe(
            recipe(
                .tests(
                    "meson test -C builddir --print-errorlogs", results: ["builddir/meson-logs/testlog.junit.xml"])))
    }

    private var autotools: SeedFinding {
        let prepare = folder.has("autogen.sh") ? "./autogen.sh" : "autoreconf -fi"
        let hasTests = folder.contains {
            SeedFolder.name($0) == "Makefile.am"
                && folder.text($0)?.contains(/(?m)^\s*(TESTS\s*\+?=|check-local\s*:)/) ?? false
        }
        func recipe(_ test: SeedRecipe.SeedStep) -> SeedRecipe {
            var recipe = SeedRecipe(
                "Autotools", in: folder,
                build: "if [ ! -f Makefile ]; then \(prepare) && ./configure; fi && make", test: test)
            recipe.programs = ["autoreconf", "make"]
            return recipe
        }
        guard hasTests else {
            return .doubt(
                SeedRecipe.Doubt(file: "configure.ac", reason: "no Makefile.am sets TESTS"),
                buildOnly: recipe(.placeholder))
        }
        return .recipe(recipe(.tests("make check")))
    }
}
