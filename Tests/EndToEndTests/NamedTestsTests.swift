import DaemonLog
import TestBasics
import Reports
import Results
import Foundation
import TestSupport
import Testing

/// `run --tests`: the command that a bundle names for each failing test, run unchanged in a clone.
struct NamedTestsTests {
    /// Takes the names of tests as arguments; `S/two` fails if the file `broken` exists.
    private static let script = """
        [ $# -gt 0 ] || set -- S/one S/two
        echo "ran $*"; code=0; cases=
        for test in "$@"; do
          name=${test#S/}; say=
          if [ "$name" = two ] && [ -e broken ]; then code=1; say="<failure message='no'/>"; fi
          case $name in one | two) cases="$cases<testcase classname='S' name='$name'>$say</testcase>" ;; esac
        done
        echo "<testsuite>$cases</testsuite>" > r.xml; exit $code

        """
    private static let steps = """
        let prepare = Step("prepare", run: "echo ready > ready")
        prepare
        Step("unit tests", needs: prepare, run: "cat ready; sh tests.sh").testResults(.junit("r.xml")).testFilter(.names)
        Step("lint", run: "echo linted")
        """

    private struct Bundle: Decodable {
        struct Problem: Decodable { var kind: String, name: String, file: String?, line: Int?, reproduce: String? }
        var problems: [Problem]
    }

    private func bundle(_ bench: Bench, _ id: Int) async throws -> Bundle {
        let ended = try await bench.pipectl("report", "\(id)", "--bundle", "--format", "json")
        return try JSONDecoder().decode(Bundle.self, from: Data(ended.output.utf8))
    }

    /// Runs a command that a bundle printed as a shell would.
    private func typed(_ command: String, _ bench: Bench, in folder: String) async throws -> Ended {
        try await bench.command(
            [
                "sh", "-c",
                "pipectl() { what=$1; shift; \"\(Bench.pipectl)\" $what --shared \"\(bench.meet)\" --minimum-free 0 "
                    + "\"$@\"; }; \(command)",
            ],
            in: folder, within: .seconds(240))
    }

    @Test(.timeLimit(.minutes(6)))
    func `the reproduce command of a failing test runs it alone in a clone`() async throws {
        try await Bench.with(Workflows.test(Self.steps, files: ["tests.sh": Self.script])) { bench in
            let clone = "\(bench.root)/clone"
            try await bench.git(["clone", "-q", bench.repository, clone], in: bench.root)
            try await bench.withDaemon("--changes", "agent/*") { daemon in
                try await daemon.event(.baseline)
                try await bench.git(["checkout", "-q", "-b", "agent/two"], in: clone)
                try await bench.git(["commit", "-q", "--allow-empty", "-m", "Nothing yet"], in: clone)
                _ = FileManager.default.createFile(atPath: "\(clone)/broken", contents: nil)
                try await bench.git(["add", "-A"], in: clone)
                try await bench.git(["commit", "-q", "-m", "Break it"], in: clone)
                try await bench.git(["push", "-q", "origin", "agent/two"], in: clone)
                #expect(try await bench.pipectl("wait", in: clone).code == 1)

                let problem = try #require(try await self.bundle(bench, 1).problems.first { $0.kind == "test" })
                #expect(problem.reproduce == "pipectl run test --step \"unit tests\" --tests S/two")
                let again = try await self.typed(problem.reproduce ?? "", bench, in: clone)
                #expect(again.code == 1, "\(again.errors)")
                let log = try await bench.pipectl("logs", "2", "unit tests").output
                #expect(log == "ready\nran S/two\n", "only this test, and what the step needs before")
                let report = try await bench.pipectl("report", "2", "--format", "json").output
                #expect(!report.contains("\"lint\""))
                #expect(report.contains("pipectl run test --step 'unit tests' --tests S/two"))

                // In the clone the branch is no change; where it was pushed it is one.
                let change = try await bench.pipectl("run", "test", "--change", "agent/two", in: clone)
                #expect(change.code == 1, "\(change.errors)")
                let unknown = try await bench.pipectl("run", "test", "--change", "agent/nine", in: clone)
                #expect(unknown.code == 2 && unknown.errors.contains("no change \"agent/nine\""), "\(unknown.errors)")

                // The failure is fixed but not committed; the same command shows that.
                try FileManager.default.removeItem(atPath: "\(clone)/broken")
                #expect(try await self.typed(problem.reproduce ?? "", bench, in: clone).code == 0)
                #expect(try await bench.pipectl("wait", in: clone).code == 1, "a try of one test is no verdict")
            }
        }
    }

    @Test(.timeLimit(.minutes(6)))
    func `a requested test that does not run fails the step with a reason`() async throws {
        try await Bench.with(Workflows.test(Self.steps, files: ["tests.sh": Self.script])) { bench in
            let missing = try await bench.pipectl("run", "test", "--tests", "S/three")
            #expect(missing.code == 1)
            #expect(missing.output.contains("it exited with 0 but did not run S/three"), "\(missing.output)")
            let part = try await bench.pipectl("run", "test", "--tests", "S/one")
            #expect(part.code == 0, "\(part.output)")
            #expect(try await bench.pipectl("logs", "2", "unit tests").output == "ready\nran S/one\n")
            let lint = try await bench.pipectl("run", "test", "--step", "lint", "--tests", "S/one")
            #expect(lint.code == 2)
            #expect(lint.errors.contains("no test filter in \"lint\""), "\(lint.errors)")
            let misspelt = try await bench.pipectl("run", "test", "--step", "lnt")
            #expect(misspelt.code == 2 && misspelt.errors.contains("Did you mean \"lint\"?"), "\(misspelt.errors)")
            let again = try await bench.pipectl("rerun", "2", "--step", "nosuch")
            #expect(again.code == 2 && again.errors.contains("prepare, unit tests, lint"), "\(again.errors)")
            #expect(try await bench.runs().count == 2, "what is refused makes no run")
        }
    }

    /// Other runs must not be compared with a target's run of some tests only.
    @Test(.timeLimit(.minutes(6)))
    func `a run of some tests is compared with no other run`() async throws {
        try await Bench.with(Workflows.test(Self.steps, files: ["tests.sh": Self.script])) { bench in
            #expect(try await bench.pipectl("run", "test", "--ref", "main").code == 0)
            #expect(try await bench.pipectl("run", "test", "--ref", "main", "--tests", "S/one").code == 0)
            #expect(try await bench.pipectl("run", "test", "--ref", "main", "--step", "lint").code == 0)
            try await bench.change(1, ["broken": ""])
            #expect(try await bench.pipectl("run", "test", "--change", "1").code == 1)
            let report = try await bench.pipectl("report", "4", "--format", "json")
            let comparison = try ReportJSON.decoder().decode(Report.self, from: Data(report.output.utf8)).comparison
            #expect(comparison?.against == 1)
            #expect(comparison?.newlyFailing == ["S/two"])
            #expect(comparison?.added == [], "both tests ran there")
            #expect(try await bench.pipectl("run", "test", "--change", "1", "--tests", "S/two").code == 1)
            let part = try await bench.pipectl("report", "5", "--format", "json")
            #expect(!part.output.contains("\"vanished\" : [\n      \"S/one\""), "it was not asked for")
        }
    }

    /// Real tools: Swift Testing with and without parameters, XCTest, and a suite with a longer name.
    @Test(.timeLimit(.minutes(10)))
    func `tests of a Swift package are run by their names`() async throws {
        let files = [
            "Package.swift": """
            // swift-tools-version: 6.0
            import PackageDescription
            let package = Package(
                name: "P", targets: [.target(name: "P"), .testTarget(name: "PTests", dependencies: ["P"])])

            """,
            "Sources/P/P.swift": "public func double(_ n: Int) -> Int { n * 2 }\n",
            "Tests/PTests/New.swift": """
            import Testing
            import P

            @Suite struct DoubleTests {
                @Test func doubles() {
                    let two = 2
                    #expect(double(two) == 4)
                }
                @Test func doublesMore() { #expect(double(3) == 6) }
                @Test(arguments: [1, 2]) func each(_ n: Int) { #expect(double(n) == n + n) }
            }

            """,
            "Tests/PTests/Old.swift": """
            import XCTest
            import P

            final class OldTests: XCTestCase {
                func testDouble() { XCTAssertEqual(double(5), 10) }
                func testZero() { XCTAssertEqual(double(0), 0) }
            }

            """, ".gitignore": ".build\n",
        ]
        let steps = """
            let build = Step("build", run: "swift build --build-tests")
            build
            Step("unit tests", needs: build, run: "swift test --skip-build --parallel --xunit-output .build/tests.xml")
                .testResults(.junit(".build/tests*.xml"))
            """
        try await Bench.with(Workflows.test(steps, files: files)) { bench in
            try await bench.change(1, ["Sources/P/P.swift": "public func double(_ n: Int) -> Int { n * 2 + n / 2 }\n"])
            #expect(try await bench.look("--since", "1d").code == 1)
            let tests = try await bundle(bench, 1).problems.filter { $0.kind == "test" }
            let names = Set(tests.map(\.name))
            #expect(names.contains("PTests.DoubleTests/doubles()") && names.contains("PTests.OldTests/testDouble"))
            let one = try #require(tests.first { $0.name == "PTests.DoubleTests/doubles()" })
            #expect(one.reproduce == "pipectl run test --step \"unit tests\" --tests PTests.DoubleTests/doubles")
            #expect(one.file == "Tests/PTests/New.swift" && one.line == 7, "the assertion, not the declaration")

            try await bench.git(["checkout", "-q", "refs/pull/1/head"])
            let commands = [one, try #require(tests.first { $0.name == "PTests.OldTests/testDouble" })]
                .compactMap(\.reproduce)
            for (number, command) in commands.enumerated() {
                let again = try await self.typed(command, bench, in: bench.repository)
                #expect(again.code == 1, "\(again.output)\(again.errors)")
                let report = try await bench.pipectl("report", "\(number + 2)", "--format", "json")
                let counts = try ReportJSON.decoder().decode(Report.self, from: Data(report.output.utf8)).testCounts
                #expect(counts.failed == 1 && counts.total == 1, "\(command): \(counts)")
            }
            try bench.write(["Sources/P/P.swift": "public func double(_ n: Int) -> Int { n + n }\n"])
            #expect(try await self.typed(commands[0], bench, in: bench.repository).code == 0)
        }
    }

    @Test(
        .timeLimit(.minutes(6)),
        .enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/ctest"), "CTest is not installed"))
    func `tests of ctest are run by their names`() async throws {
        let files = [
            "CMakeLists.txt": """
            cmake_minimum_required(VERSION 3.21)
            project(x NONE)
            enable_testing()
            add_test(NAME "a.b/one" COMMAND true)
            add_test(NAME "two (2)" COMMAND sh -c "! test -e ${CMAKE_SOURCE_DIR}/broken")

            """
        ]
        let steps = """
            let build = Step("build", run: "cmake -S . -B b")
            build
            Step("unit", needs: build, run: "ctest --test-dir b --output-junit r.xml").testResults(.junit("b/r.xml"))
            """
        try await Bench.with(Workflows.test(steps, files: files)) { bench in
            try await bench.change(1, ["broken": ""])
            #expect(try await bench.look("--since", "1d").code == 1)
            let problem = try #require(try await bundle(bench, 1).problems.first { $0.kind == "test" })
            #expect(problem.name == "two (2)")
            try await bench.git(["checkout", "-q", "refs/pull/1/head"])
            let again = try await typed(problem.reproduce ?? "", bench, in: bench.repository)
            #expect(again.code == 1, "\(again.output)\(again.errors)")
            let log = try await bench.pipectl("logs", "2", "unit").output
            #expect(log.contains("tests passed, 1 tests failed out of 1"), "\(log)")
        }
    }
}
