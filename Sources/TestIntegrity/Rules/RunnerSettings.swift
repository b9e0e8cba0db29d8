/// Settings files of test runners. Reports each line that a change adds and that may leave tests out.
enum RunnerSettings {
    static let byteLimit = 512 << 10

    static func isSettings(_ path: String) -> Bool {
        let name = String(path.split(separator: "/").last ?? "").lowercased()
        if names.contains(name) || name.hasSuffix(".xctestplan") || name.hasSuffix(".xcscheme") { return true }
        return ["jest.config.", "vitest.config.", "playwright.config.", "karma.conf."].contains { name.hasPrefix($0) }
            || name.hasSuffix(".sh") || name.hasSuffix(".mk")
            || path.hasPrefix(".github/workflows/") || path.hasPrefix("script/") || path.hasPrefix("scripts/")
    }

    private static let names: Set<String> = [
        "pytest.ini", "setup.cfg", "tox.ini", "pyproject.toml", "conftest.py", "noxfile.py", "makefile", "justfile",
        "package.json", "nextest.toml", "cargo.toml", "cmakelists.txt", "ctestcustom.cmake", ".gitlab-ci.yml",
        "rakefile",
        ".rspec", "phpunit.xml", "build.gradle", "build.gradle.kts", "pom.xml", "taskfile.yml", "mise.toml",
    ]

    /// Words that leave tests out wherever they occur.
    private static let always = [
        "--deselect", "collect_ignore", "norecursedirs", "skippedtests", "selectedtests", "testpathignorepatterns",
        "default-filter", "ctest_custom_tests_ignore", "--passwithnotests", "--ignore-glob", "modulepathignorepatterns",
        "skiptests", "maven.test.skip", "--exclude-group", "norun=", "testnamepattern", "harness = false",
        "test = false",
    ]
    /// Words that leave tests out in a line about tests.
    private static let besideTest = [
        "--skip", "--filter", "--exclude", "--ignore", " -k ", "-k=", "-k\"", " -m ", "-m=", "|| true", "||true",
        "|| :",
        "continue-on-error", "exclude", "skip-testing", "--no-run", "--grep", "--invert", "-not -name", "set +e",
    ]

    /// Reports lines of `new` that leave tests out and that `old` does not have.
    static func breaches(path: String, old: [UInt8], new: [UInt8]) -> [Breach] {
        var known: [String: Int] = [:]
        for line in lines(old) { known[line.text, default: 0] += 1 }
        var breaches: [Breach] = []
        for line in lines(new) where breaches.count < 50 {
            if let count = known[line.text], count > 0 {
                known[line.text] = count - 1
                continue
            }
            let text = " " + line.text.lowercased() + " "
            let word =
                always.first(where: text.contains)
                ?? (text.contains("test") || text.contains("addopts") ? besideTest.first(where: text.contains) : nil)
            guard let word else { continue }
            let shown = word.filter { $0 != " " }
            breaches.append(
                Breach(
                    .hiddenTests, .unclear,
                    message: "a setting may exclude tests, by \"\(shown)\": \(line.text.prefix(200))", file: path,
                    line: line.number))
        }
        return breaches
    }

    private static func lines(_ bytes: [UInt8]) -> [(number: Int, text: String)] {
        SourceLines.split(bytes).enumerated().compactMap { number, line in
            let text = String(line.drop { $0 == " " || $0 == "\t" })
            return text.isEmpty || text.hasPrefix("#") || text.hasPrefix("//") ? nil : (number + 1, text)
        }
    }
}
