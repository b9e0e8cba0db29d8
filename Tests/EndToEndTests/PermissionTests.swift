#if os(Linux)
    import TestBasics
    import Foundation
    import TestSupport
    import Testing

    /// Permissions that a step gets only if its workflow declares them.
    struct PermissionTests {
        private static let terminal = """
            for n in 0 1 2; do if test -t $n; then echo "terminal $n"; fi; done
            echo "TERM=$TERM"
            stty size 2> /dev/null || echo no size
            ls --color=auto -d .
            """

        @Test(.timeLimit(.minutes(6)))
        func `only steps that declare a terminal get one`() async throws {
            let steps = """
                Step("with", run: "sh check.sh").terminal()
                Step("without", run: "sh check.sh")
                Step("own", run: "sh check.sh").terminal().environment(["TERM": "dumb"])
                """
            try await Bench.with(Workflows.test(steps, files: ["check.sh": Self.terminal])) { bench in
                #expect(try await bench.pipectl("run", "test").code == 0)
                func log(_ number: Int) async throws -> [String] {
                    let kept = try await bench.git(
                        ["cat-file", "blob", "refs/runs/1:logs/00\(number)-1.log"], in: "\(bench.home)/archive.git")
                    return kept.replacing("\r\n", with: "\n").split(separator: "\n").map(String.init)
                }
                let has = ["terminal 0", "terminal 1", "terminal 2"]
                let shown = try await log(1)
                #expect(shown.dropLast() == has + ["TERM=xterm-256color", "24 80"])
                #expect(shown.last?.contains("\u{1b}[01;34m.") == true, "colours arrive: \(shown)")
                #expect(try await log(2) == ["TERM=", "no size", "."])
                #expect(try await log(3) == has + ["TERM=dumb", "24 80", "."])
            }
        }

        @Test(
            .enabled(if: UserNamespaces.arePossible, "the kernel lets nobody make user namespaces"),
            .timeLimit(.minutes(6)))
        func `a nested sandbox needs its permission`() async throws {
            let steps = """
                Step("allowed", run: "sh check.sh").allows(.nestedSandboxes)
                Step("refused", run: "sh check.sh")
                Step("other", run: "sh check.sh").allows(.tracing)
                """
            let check = """
                unshare -U true && echo namespace
                unshare -r -m sh -c 'mount -t tmpfs none /tmp && echo mounted'
                box="bwrap --unshare-all --hostname box --ro-bind / / --proc /proc --dev /dev"
                if command -v bwrap > /dev/null; then $box hostname; else echo box; fi
                exit 0
                """
            try await Bench.with(Workflows.test(steps, files: ["check.sh": check])) { bench in
                #expect(try await bench.pipectl("run", "test").code == 0)
                func log(_ step: String) async throws -> String { try await bench.pipectl("logs", "1", step).output }
                let allowed = try await log("allowed")
                #expect(allowed == "namespace\nmounted\nbox\n")
                for step in ["refused", "other"] {
                    let text = try await log(step)
                    for word in ["namespace\n", "mounted\n"] { #expect(!text.contains(word), "\(step): \(text)") }
                    #expect(text.contains("Operation not permitted"), "\(step): \(text)")
                }
            }
        }

        @Test(.disabled(if: EscapeRoom.isFiltered, "calls are refused to the tests already"), .timeLimit(.minutes(6)))
        func `tracing needs its permission`() async throws {
            let steps = """
                Step("allowed", run: "sh check.sh").allows(.tracing)
                Step("refused", run: "sh check.sh")
                Step("other", run: "sh check.sh").allows(.nestedSandboxes)
                """
            let ways = ["ptrace-attach", "ptrace-seize", "vm-read", "vm-write", "pidfd-getfd"]
            try await EscapeRoom.with(steps: steps) { room in
                let check = ways.map { "if @PROBE@ \($0) > /dev/null 2>&1; then echo \($0); fi" }.joined(
                    separator: "\n")
                _ = try await room.bench.look()
                try await room.bench.change(1, ["check.sh": room.filled(check) + "\necho end\n"])
                let look = try await room.bench.look()
                #expect(look.code == 0, "\(look.output)\(look.errors)")
                let allowed = try await room.log("allowed", of: 1)
                #expect(allowed == (ways + ["end", ""]).joined(separator: "\n"))
                for step in ["refused", "other"] {
                    let text = try await room.log(step, of: 1)
                    #expect(text == "end\n", "\(step)")
                }
            }
        }
    }
#endif
