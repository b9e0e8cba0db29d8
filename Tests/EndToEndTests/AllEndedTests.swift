#if os(Linux)
    import DaemonLog
    import TestBasics
    import Foundation
    import TestSupport
    import Testing

    /// A run keeps its user and its caches while one of its processes may be alive.
    struct AllEndedTests {
        static let source = """
            import Pipeline
            let test = Workflow("test", on: .push(to: "main")) {
                Step("use", run: "sh use.sh").neverProved().cache("tools", at: "~/.cache/tools")
            }
            @main struct Workflows: WorkflowSet { static let workflows = [test] }
            """

        @Test(.timeLimit(.minutes(8)))
        func `a cache stays locked while a process of its writer may be alive`() async throws {
            let use =
                "id -u; echo $PIPECTL_RUN >> ~/.cache/tools/who && echo kept || echo refused; cat ~/.cache/tools/who\n"
            try await Bench.with(["workflows/x.swift": Self.source, "use.sh": use]) { plain in
                // A test can't make a process hang in the kernel, so the sandbox's first process sleeps after its end
                // instead.
                let bwrap = "\(plain.meet)/bwrap"
                let script = """
                    #!/bin/sh
                    case "$*" in *--die-with-parent*) exec bwrap "$@" ;; esac
                    bwrap "$@"
                    if test -e \(plain.meet)/hangs; then exec sleep 1000; fi

                    """
                try Data(script.utf8).write(to: URL(fileURLWithPath: bwrap))
                try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: bwrap)
                var bench = plain
                bench.variables["PIPECTL_BWRAP"] = bwrap
                _ = try await bench.look()
                _ = FileManager.default.createFile(atPath: "\(bench.meet)/hangs", contents: nil)
                try await bench.withDaemon { daemon in
                    try await daemon.event(.watching)
                    try await bench.commit(["a.txt": "a\n"], "First")
                    try await daemon.event(.processSurvived, run: 1)
                    _ = try await bench.pipectl("logs", "1", "--follow")
                    try FileManager.default.removeItem(atPath: "\(bench.meet)/hangs")
                    try await bench.commit(["a.txt": "b\n"], "Second")
                    try await daemon.event(.runQueued, run: 2)
                    _ = try await bench.pipectl("logs", "2", "--follow")
                    #expect(await daemon.stop() == 0)
                }
                func words(_ run: Int) async throws -> [String] {
                    try await bench.pipectl("logs", "\(run)").output.split(separator: "\n").map(String.init)
                }
                let (first, second) = try await (words(1), words(2))
                #expect(first.dropFirst() == ["kept", "1"])
                #expect(second.suffix(2) == ["refused", "1"], "it reads what is there: \(second)")
                if first.first != "\(geteuid())" { #expect(first.first != second.first, "another user") }
                // A daemon that starts again knows that all processes of the old one have ended.
                try await bench.commit(["a.txt": "c\n"], "Third")
                #expect(try await bench.look().code == 0)
                #expect(try await words(3).suffix(3) == ["kept", "1", "3"])
            }
        }
    }
#endif
