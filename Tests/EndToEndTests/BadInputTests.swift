import TestBasics
import Results
import Foundation
import TestSupport
import Testing

/// Every error names the next step and has the exit code that scripts rely on.
struct BadInputTests {
    @Test(.timeLimit(.minutes(6)))
    func `a repository without workflows is reported with the next step`() async throws {
        try await Bench.with(["README.md": "hello\n"]) { bench in
            for arguments in [["run", "test"], ["validate"], ["plan"]] {
                let ended = try await bench.command([Bench.pipectl] + arguments, in: bench.repository)
                #expect(ended.code == 2, "\(arguments): \(ended.errors)")
                #expect(ended.errors.contains("has no workflows/. Run `pipectl init` there"), "\(ended.errors)")
            }
            _ = try await bench.look()
            try await bench.change(1, ["a.txt": "a\n"])
            let look = try await bench.look()
            #expect(look.code == 0)
            #expect(look.errors.contains("has no workflows/ on the branches that moved, so nothing is tested"))
        }
    }

    @Test(.timeLimit(.minutes(6)))
    func `workflows that do not compile are reported with file and line`() async throws {
        try await Bench.with { bench in
            _ = try await bench.look()
            try await bench.commit(
                ["workflows/x.swift": "import Pipeline\n\nlet test = Workflow(nonsense)\n"], "Break it")
            let look = try await bench.look()
            #expect(look.code == 2)
            #expect(look.output.contains("run 1  workflows  definition error"))
            let report = try await bench.pipectl("report", "1")
            #expect(report.output.contains("workflows/x.swift:3:"), "\(report.output)")
            #expect(report.output.contains("nonsense"))
            #expect(try await bench.run(1).verdict == .definitionError)
            let validate = try await bench.pipectl("validate")
            #expect(validate.code == 2)
            #expect(validate.errors.contains("workflows/x.swift:3:"))
        }
    }

    @Test(.timeLimit(.minutes(6)))
    func `run shows the place at which workflows do not compile`() async throws {
        try await Bench.with { bench in
            try bench.write(["workflows/x.swift": "import Pipeline\n\nlet test = Workflow(nonsense)\n"])
            let run = try await bench.pipectl("run", "test")
            #expect(run.code == 2)
            #expect(run.errors.contains("workflows/x.swift:3:"), "\(run.errors)")
        }
    }

    static let definitions: [(name: String, steps: String, says: String)] = [
        (
            "a duplicate step name", "Step(\"a\", run: \"true\")\n    Step(\"a\", run: \"false\")",
            "2 different steps have this name"
        ),
        (
            "a cycle",
            """
            let first = Step("a", run: "true")
                let b = Step("b", needs: first, run: "true")
                let a = Step("a", needs: b, run: "true")
                a
                b
            """, "cycle"
        ),
    ]

    @Test(.timeLimit(.minutes(6)), arguments: definitions)
    func `a definition that can't run ends as a definition error`(_ row: (name: String, steps: String, says: String))
        async throws
    {
        try await Bench.with(Workflows.test(row.steps)) { bench in
            let validate = try await bench.pipectl("validate")
            #expect(validate.code == 2)
            #expect(validate.output.contains(row.says), "\(validate.output)")
            let run = try await bench.pipectl("run", "test")
            #expect(run.code == 2)
            #expect((run.output + run.errors).contains(row.says), "\(run.output) \(run.errors)")
        }
    }

    @Test(.timeLimit(.minutes(6)))
    func `unknown names of runs, steps and workflows are errors with suggestions`() async throws {
        try await Bench.with { bench in
            for arguments in [["run", "tset"], ["plan", "tset"]] {
                let ended = try await bench.command([Bench.pipectl] + arguments, in: bench.repository)
                #expect(ended.code == 2, "\(arguments)")
                #expect(ended.errors.contains("No workflow is named \"tset\". Did you mean \"test\"?"))
            }
            let change = try await bench.pipectl("run", "test", "--change", "9")
            #expect(change.code == 2)
            #expect(change.errors.contains("has no change \"9\"; it has none"))
            let ref = try await bench.pipectl("run", "test", "--ref", "nowhere")
            #expect(ref.code == 2, "\(ref.errors)")
            #expect(ref.errors.contains("nowhere"))
            let parameter = try await bench.pipectl("run", "test", "--param", "a=b")
            #expect(parameter.code == 2)
            #expect(parameter.errors.contains("has no parameter \"a\""))
            let step = try await bench.pipectl("run", "test", "--step", "chek")
            #expect(step.code == 2)
            #expect(
                step.errors.contains("has no step \"chek\"") && step.errors.contains("check, lint"), "\(step.errors)")
        }
    }

    @Test(.timeLimit(.minutes(6)))
    func `repositories that can't be watched are refused with a reason`() async throws {
        try await Bench.with { bench in
            func refusal(_ path: String) async throws -> String {
                let ended = try await bench.pipectl("watch", "--once", path)
                #expect(ended.code == 2, "\(path)")
                #expect(ended.errors.contains("\(path) can't be watched: "))
                return ended.errors
            }
            _ = try await refusal("\(bench.root)/missing")
            try await bench.commit(["a.txt": "a\n"], "Second")
            let shallow = "\(bench.root)/shallow"
            try await bench.git(["clone", "-q", "--depth", "1", "file://\(bench.repository)", shallow])
            #expect(try await refusal(shallow).contains("fetch --unshallow"))
            let sha256 = "\(bench.root)/sha256"
            try await bench.git(["init", "-q", "--object-format=sha256", sha256])
            #expect(try await refusal(sha256).contains("Watch a SHA-1 clone of it."))
        }
    }

    @Test(.timeLimit(.minutes(6)))
    func `the report names a result file that is not XML and a missing artifact`() async throws {
        let steps = """
            Step("tests", run: "echo not xml > results.xml").testResults(.junit("results.xml"))
                Step("pack", run: "echo nothing packed").artifacts("dist/*.tar.gz")
                Step("other", run: "echo other")
            """
        try await Bench.with(Workflows.test(steps)) { bench in
            let run = try await bench.pipectl("run", "test")
            #expect(run.code == 1, "\(run.errors)")
            #expect(try await bench.run(1).verdict == .failed, "the run has not crashed")
            let report = try await bench.pipectl("report", "1")
            #expect(report.output.contains("results.xml"), "\(report.output)")
            #expect(report.output.contains("no file matches the artifact pattern \"dist/*.tar.gz\""))
            #expect(try await bench.pipectl("logs", "1", "other").output == "other\n")
            try bench.write(["bad.xml": "not xml\n"])
            let results = try await bench.pipectl("results", "bad.xml")
            #expect(results.errors.contains("bad.xml"), "\(results.errors)")
        }
    }

    @Test(.timeLimit(.minutes(6)))
    func `a truncated cached program is built again`() async throws {
        try await Bench.with { bench in
            #expect(try await bench.pipectl("run", "test").code == 0)
            let folder = "\(bench.home)/programs"
            let names = try FileManager.default.contentsOfDirectory(atPath: folder)
            let programs = names.map { "\(folder)/\($0)/program" }
                .filter { FileManager.default.isExecutableFile(atPath: $0) }
            try #require(programs.count == 1)
            for path in programs {
                let file = try #require(FileHandle(forWritingAtPath: path))
                try file.truncate(atOffset: 100)
                try file.close()
            }
            let run = try await bench.pipectl("run", "test")
            #expect(run.code == 0, "\(run.errors)")
            for path in programs {
                let size = try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int
                #expect((size ?? 0) > 100)
            }
        }
    }
}
