import DaemonLog
import TestBasics
import Reports
import Results
import Foundation
import TestSupport
import Testing

/// Bundles of real failures through the built binary: each within its budget, each naming the file and line.
struct BundleTests {
    /// A change that breaks something, and what its bundle must name first.
    struct Kind: Sendable, CustomTestStringConvertible {
        var name: String
        var files: [String: String]
        /// `file:line`, or the text of the first problem if no file is to blame.
        var names: String
        var verdict = "failed"
        var problem = "finding"
        /// The program that this failure needs.
        var tool: String?

        var testDescription: String { name }
    }

    private static let kinds = swift + python + c + any

    private static let swift = [
        Kind(
            name: "swift: compile error",
            files: [
                "check.sh": "swiftc -typecheck Sources/App/App.swift",
                "Sources/App/App.swift": "struct App {\n    let n: Int = \"a\"\n}\n",
            ],
            names: "Sources/App/App.swift:2"),
        Kind(
            name: "swift: crash",
            files: [
                "check.sh": "swiftc -g -parse-as-library -o app Sources/App/App.swift && ./app",
                "Sources/App/App.swift":
                    "@main struct App {\n    static func main() {\n        let all = [1]\n        let next = all.count + 7\n        print(all[next])\n    }\n}\n",
            ], names: "Sources/App/App.swift:5"),
        Kind(
            name: "swift: assertion",
            files: [
                "check.sh": "swiftc -o app Sources/App/main.swift && ./app",
                "Sources/App/main.swift":
                    "let total = CommandLine.arguments.count\n\nassert(total == 3, \"three are needed\")\n",
            ], names: "Sources/App/main.swift:3"),
        Kind(
            name: "swift: missing dependency",
            files: [
                "check.sh": "swiftc -typecheck Sources/App/App.swift",
                "Sources/App/App.swift": "import Foundation\nimport NoSuchModule\n",
            ],
            names: "Sources/App/App.swift:2"),
        Kind(
            name: "swift: lint",
            files: [
                "check.sh": "swift format lint --strict --recursive Sources",
                "Sources/App/App.swift": "struct App {\n  let a = 1\n  let  b = 2\n}\n",
            ], names: "Sources/App/App.swift:3"),
        Kind(
            name: "swift: time-out",
            files: [
                "check.sh":
                    "echo '◇ Test first() started.'; echo '✔ Test first() passed after 0.1 seconds.'; echo '◇ Test hangs() started.'; sleep 1000",
                "slow.txt": "",
                "Tests/AppTests/AppTests.swift":
                    "import Testing\n\n@Test func first() {}\n@Test func hangs() {\n    while true {}\n}\n",
            ], names: "Tests/AppTests/AppTests.swift:4"),
    ]

    private static let python = [
        Kind(
            name: "python: syntax error", files: ["check.sh": "python3 app.py", "app.py": "def f():\n    return (\n"],
            names: "app.py:2", tool: "python3"),
        Kind(
            name: "python: crash",
            files: [
                "check.sh": "python3 -X faulthandler app.py",
                "app.py": "import os\n\n\ndef f():\n    os.abort()\n\n\nf()\n",
            ],
            names: "app.py:5", tool: "python3"),
        Kind(
            name: "python: missing dependency",
            files: ["check.sh": "python3 app.py", "app.py": "import os\nimport no_such_module\n"],
            names: "app.py:2", tool: "python3"),
        Kind(
            name: "python: out of memory",
            files: [
                "check.sh": "python3 app.py",
                "app.py":
                    "import resource\n\nresource.setrlimit(resource.RLIMIT_AS, (1 << 28, 1 << 28))\nx = bytearray(1 << 30)\n",
            ],
            names: "app.py:4", tool: "python3"),
        Kind(
            name: "pytest: assertion",
            files: [
                "check.sh": "python3 -m pytest -q -p no:cacheprovider test_app.py",
                "test_app.py": "def test_sum():\n    total = 1 + 1\n    assert total == 3\n",
            ],
            names: "test_app.py:3", tool: "pytest"),
        Kind(
            name: "pytest: assertion in JUnit",
            files: [
                "check.sh": "python3 -m pytest -q -p no:cacheprovider --junit-xml=out/tests.xml test_app.py",
                "test_app.py": "def test_sum():\n    total = 1 + 1\n    assert total == 3\n",
            ], names: "test_app.py:3", problem: "test", tool: "pytest"),
    ]

    private static let c = [
        Kind(
            name: "c: compile error", files: ["check.sh": "cc -c a.c", "a.c": "int f(void) {\n    return y;\n}\n"],
            names: "a.c:2",
            tool: "cc"),
        Kind(
            name: "c: missing header",
            files: ["check.sh": "cc -c a.c", "a.c": "#include <stdio.h>\n#include \"no_such.h\"\n"],
            names: "a.c:2", tool: "cc"),
        Kind(
            name: "c: link",
            files: ["check.sh": "cc -g a.c -o a", "a.c": "void missing(void);\nint main(void) {\n    missing();\n}\n"],
            names: "a.c:3", tool: "cc"),
        Kind(
            name: "ctest: assertion",
            files: [
                "check.sh": "mkdir b && cd b && cmake .. && make && ctest --output-on-failure", "CMakeLists.txt": cmake,
                "a.c":
                    "#undef NDEBUG\n#include <assert.h>\nint main(int count, char **words) {\n    assert(count == 3);\n}\n",
            ], names: "a.c:4", tool: "ctest"),
        Kind(
            name: "ctest: time-out in JUnit",
            files: [
                "check.sh": "mkdir b && cd b && cmake .. && make && ctest --timeout 1 --output-junit ../out/tests.xml",
                "CMakeLists.txt": cmake, "a.c": "#include <unistd.h>\nint main(void) {\n    sleep(60);\n}\n",
            ], names: "CMakeLists.txt:5", problem: "test", tool: "ctest"),
        Kind(
            name: "cmake: missing package",
            files: ["check.sh": "cmake -S . -B b", "CMakeLists.txt": cmake + "find_package(NoSuch REQUIRED)\n"],
            names: "CMakeLists.txt:6", tool: "cmake"),
    ]

    private static let cmake = """
        cmake_minimum_required(VERSION 3.10)
        project(A C)
        enable_testing()
        add_executable(a a.c)
        add_test(NAME arithmetic COMMAND a)

        """

    private static let any = [
        Kind(
            name: "flaky",
            files: [
                "retry.txt": "",
                "check.sh": """
                mkdir -p out; if test -e tried; then rest='/>'; else rest='><failure message="now and then">x</failure></testcase>'; fi
                kept="<testcase classname='Old' name='kept'/><testcase classname='Old' name='gone'/>"
                echo "<testsuite>$kept<testcase classname='S' name='flips' file='Tests/S.swift' line='3' $rest</testsuite>" > out/tests.xml
                if test -e tried; then exit 0; else touch tried; exit 1; fi

                """, "Tests/S.swift": "//\n//\nfunc flips() {}\n",
            ], names: "Tests/S.swift:3", verdict: "flaky", problem: "test"),
        Kind(
            name: "removed test",
            files: [
                "check.sh":
                    "mkdir -p out; echo '<testsuite><testcase classname=\"Old\" name=\"kept\"/></testsuite>' > out/tests.xml",
                "Tests/Old.swift": "func kept() {}\n",
            ], names: "Tests/Old.swift:2", verdict: "passed", problem: "removedTest"),
        Kind(
            name: "conflict", files: ["shared.txt": "one\nmine\nthree\n"], names: "shared.txt:2", verdict: "conflict",
            problem: "conflict"),
        Kind(
            name: "memory limit",
            files: [
                "check.sh":
                    "echo 'Test Case '\\''AppTests.grows'\\'' started at 12:00:00'; sh -c 'x=0123456789abcdef; while :; do x=$x$x; done' 2>/dev/null",
                "big.txt": "", "Tests/AppTests.swift": "//\nfunc grows() {}\n",
            ],  // The shell's own words where it is refused memory; the test where the box ends the step.
            names: "check.sh:1|Tests/AppTests.swift:2"),
        Kind(
            name: "infrastructure", files: ["needs.txt": "gpu\n"], names: "could never start",
            verdict: "infrastructure", problem: "step"),
    ]

    /// Each change is one kind of failure. The workflow recognises it by the files that it adds.
    private static let base = [
        "workflows/x.swift": """
        import Pipeline

        let gpu = Resource("gpu", capacity: 4)
        func brings(_ file: String, _ context: PlanContext) -> Bool { context.changedFiles.contains { $0.path == file } }

        let test = Workflow("test", on: .pullRequest(into: "main")) { context in
            Step("check", run: "sh check.sh").timeout(.seconds(brings("slow.txt", context) ? 10 : 300))
                .retries(brings("retry.txt", context) ? 1 : 0)
                .limits(.memory(brings("big.txt", context) ? .mebibytes(100) : .gibibytes(4)))
                .testResults(.junit("out/*.xml"))
            if brings("needs.txt", context) { Step("model", run: "true").uses(gpu, 2) }
        }
        @main struct Workflows: WorkflowSet { static let workflows = [test] }

        """,
        "shared.txt": "one\ntwo\nthree\n", "Tests/Old.swift": "func kept() {}\nfunc gone() {}\n",
        ".gitignore": "out/\n",
        "check.sh": """
        mkdir -p out
        echo '<testsuite><testcase classname="Old" name="kept"/><testcase classname="Old" name="gone"/></testsuite>' \
            > out/tests.xml

        """,
    ]

    @Test(.timeLimit(.minutes(10)))
    func `every kind of failure names its place`() async throws {
        try await Bench.with(Self.base) { bench in
            #expect(try await bench.pipectl("run", "test", "--ref", "main").code == 0)
            let from = try await bench.git(["rev-parse", "main"])
            // The other side of the conflict. The target's tests stay unchanged.
            try await bench.commit(["shared.txt": "one\ntheirs\nthree\n"], "Theirs")
            #expect(try await bench.pipectl("run", "test", "--ref", "main").code == 0)
            var number = 0
            var run = 2
            for kind in Self.kinds {
                if let tool = kind.tool, try await !has(tool, bench, &run) { continue }
                number += 1
                try await bench.change(number, kind.files, from: from)
                _ = try await bench.pipectl(
                    "run", "test", "--change", "\(number)", "--no-proofs", "--resource", "gpu=1")
                run += 1
                try await expect(kind, run, bench)
            }
            #expect(number >= 10, "the kinds that need nothing but what pipectl needs itself")
        }
    }

    /// Checks it as a step would: in a sandbox, as another user, with the system's folders only.
    private func has(_ tool: String, _ bench: Bench, _ run: inout Int) async throws -> Bool {
        let words = tool == "pytest" ? "python3 -m pytest --version" : "command -v \(tool)"
        try await bench.git(["checkout", "-q", "--detach", "main"])
        let head = try await bench.commit(["check.sh": words + "\n"], "Is there \(tool)?")
        try await bench.git(["checkout", "-q", "main"])
        run += 1
        return try await bench.pipectl("run", "test", "--ref", head).code == 0
    }

    private func expect(_ kind: Kind, _ run: Int, _ bench: Bench) async throws {
        for bytes in [3_072, 16_384] {
            let ended = try await bench.pipectl(
                "report", "\(run)", "--bundle", "--format", "json", "--bytes", "\(bytes)")
            #expect(ended.output.utf8.count <= bytes, "\(kind.name)")
            let bundle = try JSONDecoder().decode(RunBundle.self, from: Data(ended.output.utf8))
            #expect(bundle.verdict?.rawValue == kind.verdict, "\(kind.name): \(bundle.reason)")
            let first = try #require(bundle.problems.first, "\(kind.name)")
            #expect(first.kind.rawValue == kind.problem, "\(kind.name): \(first)")
            let place = first.file.map { "\($0):\(first.line ?? 0)" } ?? first.message ?? ""
            #expect(kind.names.split(separator: "|").contains { place.contains($0) }, "\(kind.name): \(first)")
            guard bytes > 10_000, let file = first.file, first.severity == .error else { continue }
            if kind.files[file] != nil, kind.problem != "conflict" {
                #expect(bundle.problems.flatMap { $0.hunks ?? [] }.contains { $0.file == file }, "\(kind.name)")
            }
        }
        let text = try await bench.pipectl("report", "\(run)", "--bundle").output
        #expect(text.utf8.count <= 16_384 && text.contains("run \(run)"), "\(kind.name)")
    }

    @Test(.timeLimit(.minutes(6)))
    func `a definition error names its line`() async throws {
        try await Bench.with(Self.base) { bench in
            _ = try await bench.look()
            let source = (Self.base["workflows/x.swift"] ?? "").replacing("capacity: 4", with: "capacity: \"4\"")
            try await bench.commit(["workflows/x.swift": source], "Broken")
            try await bench.change(1, ["a.txt": "a\n"])
            #expect(try await bench.look().code == 2)
            let bundle = try await bundle(1, bench)
            #expect(bundle.verdict == .definitionError && bundle.exitCode == 2)
            let first = try #require(bundle.problems.first)
            #expect(first.file == "workflows/x.swift" && first.line == 3, "\(first)")
        }
    }

    @Test(.timeLimit(.minutes(6)))
    func `the comparison separates new failures from those of the target`() async throws {
        func results(_ cases: [String: String]) -> String {
            let list = cases.sorted { $0.key < $1.key }.map { name, rest in
                "<testcase classname=\"S\" name=\"\(name)\" time=\"0.01\">\(rest)</testcase>"
            }
            return "<testsuite>\(list.joined())</testsuite>\n"
        }
        let failure = "<failure message=\"no\">no</failure>"
        let steps = """
            Step("unit", run: "cp results.xml out.xml; grep -q failure out.xml && exit 1; true").testResults(.junit("out.xml"))
            Step("lint", run: "cat lint.txt").findings(.output, .matching(FindingRule("todo", "{file}:{line} TODO {message}")))
            """
        let old = "func same() {\n    let value = make()\n    check(value == 3)\n}\n"
        let files = [
            "results.xml": results([
                "stays": "", "was": failure, "mended": failure, "same": "", "gone": "", "quiet": "",
            ]),
            "lint.txt": "a.c:3:1: warning: old\nb.c:4 TODO known\n", "T.swift": old,
        ]
        try await Bench.with(Workflows.test(steps, files: files)) { bench in
            #expect(try await bench.pipectl("run", "test", "--ref", "main").code == 1)
            try await bench.change(
                1,
                [
                    "results.xml": results([
                        "stays": failure, "was": failure, "mended": "", "other": "", "quiet": "<skipped/>", "new": "",
                    ]),
                    "lint.txt": "a.c:9:1: warning: old\na.c:7:1: warning: fresh\nb.c:4 TODO known\nb.c:6 TODO more\n",
                    "T.swift": old.replacing("same", with: "other"),
                ])
            #expect(try await bench.pipectl("run", "test", "--change", "1").code == 1)
            let ended = try await bench.pipectl("compare", "2", "--json")
            let comparison = try JSONDecoder().decode(Comparison.self, from: Data(ended.output.utf8))
            #expect(comparison.newlyFailing == ["S/stays"])
            #expect(comparison.alsoFailing == ["S/was"])
            #expect(comparison.fixed == ["S/mended"])
            #expect(comparison.vanished == ["S/gone"])
            #expect(comparison.newlySkipped == ["S/quiet"])
            #expect(comparison.added == ["S/new"])
            #expect(comparison.renamed == [.init(from: "S/same", to: "S/other", hasSameBody: true)])
            #expect(comparison.newFindings == ["todo|b.c|more", "warning|a.c|fresh"])
            let text = try await bench.pipectl("compare", "2").output
            #expect(text.contains("1 renamed between run 2 and run 1\n  S/same → S/other\n"), "\(text)")
            #expect(try await bench.pipectl("compare", "2", "1").output == text)
            #expect(try await bench.pipectl("compare", "1").errors.contains("it has no target"))
            let problems = try await bundle(2, bench).problems
            #expect(problems.first?.name == "S/stays" && problems.first?.standing == .newHere)
            let todo = problems.filter { $0.name == "todo" }
            #expect(todo.map(\.standing) == [.newHere, .alsoOnTarget])
            #expect(todo.first?.file == "b.c" && todo.first?.line == 6)
        }
    }

    @Test(.timeLimit(.minutes(6)))
    func `findings of closures and SARIF files are in the bundle`() async throws {
        let steps = """
            Step("size") { step in
                try step.report(.note, "just said", rule: "remark")
                try step.report(.error, "too large", rule: "size", file: "a.txt", line: 2, suggestion: "make it smaller")
                throw StepFailure("a.txt is too large")
            }
            Step("scan", run: "mkdir -p out; cp scan.sarif out/").findings(.sarif("out/*.sarif"))
            """
        let sarif = """
            {"version":"2.1.0","runs":[{"tool":{"driver":{"name":"scan"}},"results":[{"ruleId":"S1","level":"warning",
            "message":{"text":"leak"},"locations":[{"physicalLocation":{"artifactLocation":{"uri":"a.txt"},
            "region":{"startLine":1}}}]}]}]}
            """
        try await Bench.with(Workflows.test(steps, files: ["a.txt": "one\n", "scan.sarif": sarif])) { bench in
            try await bench.change(1, ["a.txt": "one\ntwo\n"])
            #expect(try await bench.pipectl("run", "test", "--change", "1").code == 1)
            let problems = try await bundle(1, bench).problems
            let size = try #require(problems.first { $0.name == "size" && $0.kind == .finding })
            #expect(size.file == "a.txt" && size.line == 2 && size.suggestion == "make it smaller")
            #expect(size.hunks?.first?.text.contains("+two") == true)
            #expect(problems.contains { $0.name == "remark" && $0.severity == .note })
            #expect(problems.contains { $0.name == "S1" && $0.file == "a.txt" && $0.line == 1 && $0.step == "scan" })
            #expect(problems.contains { $0.message == "a.txt is too large" && $0.file == "workflows/x.swift" })
        }
    }

    @Test(.timeLimit(.minutes(6)))
    func `a live run has a bundle, and the target is run for the comparison`() async throws {
        let steps = """
            Step("fails", run: "test ! -e broken || { echo 'a.c:7:1: error: so far'; exit 1; }")
            Step("waits", run: "test ! -e broken || { echo here > MEET/up; cat MEET/go; }")
            """
        try await Bench.with { bench in
            try bench.meetingPoint("up")
            try bench.meetingPoint("go")
            try await bench.commit(Workflows.test(steps.replacing("MEET", with: bench.meet)), "Steps")
            try await bench.withDaemon("--refresh") { daemon in
                try await bench.change(1, ["broken": "yes\n", "a.c": "int x;\n"])
                #expect(try await bench.pipectl("notify").code == 0)
                try await bench.arrival(at: "up")
                var bundle = try await bundle(1, bench)
                // The failing step may end a moment after the waiting one has started.
                for _ in 0..<50 where bundle.problems.isEmpty { bundle = try await self.bundle(1, bench) }
                #expect(bundle.verdict == nil && bundle.exitCode == nil)
                #expect(bundle.problems.first?.file == "a.c" && bundle.problems.first?.line == 7, "\(bundle)")
                try await bench.release("go")
                try await daemon.event(.runQueued, run: 2)
            }
        }
    }

    private func bundle(_ run: Int, _ bench: Bench) async throws -> RunBundle {
        let ended = try await bench.pipectl("report", "\(run)", "--bundle", "--format", "json")
        return try JSONDecoder().decode(RunBundle.self, from: Data(ended.output.utf8))
    }
}
