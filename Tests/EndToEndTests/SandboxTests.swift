import TestBasics
import Results

#if os(Linux)
    import Foundation
    import TestSupport
    import Testing

    /// A daemon that can make no sandbox, and paths that a sandbox can't show.
    struct SandboxTests {
        @Test(.timeLimit(.minutes(6)))
        func `without a sandbox a change is refused unless that is allowed`() async throws {
            try await Bench.with(Workflows.test("Step(\"check\", run: \"echo checked > ROOT/checked\")")) { plain in
                var bench = plain
                try await bench.commit(
                    Workflows.test("Step(\"check\", run: \"echo checked >> \(bench.meet)/checked\")"), "Say it")
                bench.variables["PIPECTL_BWRAP"] = "/bin/false"
                _ = try await bench.look()
                try await bench.change(1, ["a.txt": "a\n"])
                let refused = try await bench.look()
                #expect(refused.code == 3, "\(refused.output)\(refused.errors)")
                let run = try await bench.run(1)
                #expect(run.verdict == .infrastructure)
                let reason = try #require(run.reason)
                #expect(
                    reason.hasPrefix(
                        "unmerged code runs only in a sandbox, and none is possible here: a sandbox can't be "
                            + "created here; /bin/false reported: nothing."), "\(reason)")
                #expect(
                    reason.hasSuffix(
                        "`pipectl watch --allow-unsandboxed` runs it with all the rights of this user instead."))
                #expect(!FileManager.default.fileExists(atPath: "\(bench.meet)/checked"))

                try await bench.change(2, ["b.txt": "b\n"])
                let allowed = try await bench.look("--allow-unsandboxed")
                #expect(allowed.code == 0, "\(allowed.output)\(allowed.errors)")
                #expect(try await bench.run(2).verdict == .passed)
                #expect(try String(contentsOfFile: "\(bench.meet)/checked", encoding: .utf8) == "checked\n")
                // A person may run the own working tree without a sandbox.
                #expect(try await bench.pipectl("run", "test").code == 0)
                let doctor = try await bench.pipectl("doctor").output
                #expect(doctor.contains("✗ sandbox: "), "\(doctor)")
            }
        }

        @Test(.timeLimit(.minutes(6)), arguments: ["--shared", "--readable", "--writable", "PIPECTL_HOME"])
        func `a mount below a folder that steps write to is refused`(option: String) async throws {
            let place = "/var/tmp/pipectl-e\(UInt64.random(in: 0 ... .max))"
            try FileManager.default.createDirectory(
                atPath: place, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
            defer { try? FileManager.default.removeItem(atPath: place) }
            try await Bench.with(Workflows.test("Step(\"check\", run: \"true\")")) { plain in
                var bench = plain
                if option == "PIPECTL_HOME" { bench.variables[option] = place }
                let options = option == "PIPECTL_HOME" ? [] : [option, place]
                let run = try await bench.command([Bench.pipectl, "run", "test"] + options, in: bench.repository)
                #expect(run.code == 3, "\(run.output)\(run.errors)")
                let reason = try #require(try await bench.run(1).reason)
                #expect(reason.hasPrefix(place), "\(reason)")
                #expect(
                    reason.hasSuffix(
                        " is below /var/tmp, which is private to each step in a sandbox; move it elsewhere"))
            }
        }

        @Test(.timeLimit(.minutes(6)))
        func `a cache that can't be walked is emptied`() async throws {
            let source = """
                import Pipeline
                let test = Workflow("test", on: .push(to: "main")) {
                    Step("use", run: "sh use.sh").cache("tools", at: "~/.cache/tools")
                }
                @main struct Workflows: WorkflowSet { static let workflows = [test] }
                """
            let deep = "cd ~/.cache/tools; mkdir -p $(printf 'd/%.0s' $(seq 300)); chmod 000 d; echo deep\n"
            try await Bench.with(["workflows/x.swift": source, "use.sh": "true\n"]) { bench in
                _ = try await bench.look()
                try await bench.commit(["use.sh": deep], "Deep")
                let first = try await bench.look()
                #expect(first.code == 0, "\(first.errors)")
                #expect(try await bench.pipectl("logs", "1").output == "deep\n")
                for (number, line) in [(2, "echo 2 > n"), (3, "cat n")] {
                    try await bench.commit(["use.sh": "cd ~/.cache/tools; \(line); echo kept\n"], "Number \(number)")
                    let look = try await bench.look()
                    #expect(look.code == 0, "\(look.output)\(look.errors)")
                }
                #expect(try await bench.pipectl("logs", "2").output == "kept\n")
                #expect(try await bench.pipectl("logs", "3").output == "2\nkept\n", "and is one that lasts")
            }
        }
    }
#endif
