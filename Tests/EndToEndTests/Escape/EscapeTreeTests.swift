import DaemonLog
import TestBasics
import Results

#if os(Linux)
    import Foundation
    import TestSupport
    import Testing

    /// Changes of a few small objects that unfold to gigabytes, or to more files than fit on a disk.
    struct EscapeTreeTests {
        /// The process's peak memory, in KiB.
        private static func peak(_ id: Int32) -> Int? {
            EscapeRoom.text("/proc/\(id)/status").split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
                .flatMap { Int($0.dropFirst(6).trimmingCharacters(in: .whitespaces).prefix { $0.isNumber }) }
        }

        @Test(.timeLimit(.minutes(6)))
        func `a change's tree is measured before it is checked out`() async throws {
            let steps = "Step(\"check\", run: \"wc -c zeros || true; cat README.md\")"
            try await Bench.with(Workflows.test(steps, files: ["README.md": "base\n"])) { bench in
                let bomb = try await Self.bomb(in: bench)
                let zeros = try await Self.file(of: 120 << 20, in: bench)
                let huge = try await Self.file(of: 130 << 20, in: bench)
                try await bench.withDaemon("--tree-limit", "file-size=125") { daemon in
                    // What is there at the first look is not tested.
                    try await daemon.event(.baseline)
                    for (number, line) in [(1, bomb), (2, huge), (3, zeros)] {
                        try await Self.change(number, with: line, in: bench)
                    }
                    _ = try await bench.pipectl("notify")
                    let bombed = try await bench.pipectl("wait", "#1", "--timeout", "60")
                    #expect(bombed.code == 1, "\(bombed.output)\(bombed.errors)")
                    let filled = try await bench.pipectl("wait", "#2", "--timeout", "60")
                    #expect(filled.code == 1, "\(filled.output)\(filled.errors)")
                    let passed = try await bench.pipectl("wait", "#3", "--timeout", "90")
                    #expect(passed.code == 0, "\(passed.output)\(passed.errors)")
                    let peak = try #require(Self.peak(daemon.child.id))
                    #expect(peak < 150 << 10, "the daemon has held \(peak) KiB")
                }
                for run in try await bench.runs() where run.change != "3" {
                    let report = try await bench.report(run.id)
                    #expect(report.verdict == .failed && report.steps.isEmpty)
                    let finding = try #require(report.findings.first { $0.rule == "tree-too-large" })
                    // The finding names the number, the limit, and how to raise it.
                    #expect(finding.message.contains(run.change == "1" ? "11111111114" : "\(130 << 20)"))
                    #expect(finding.message.contains(run.change == "1" ? "1000000" : "\(125 << 20)"))
                    #expect(finding.suggestion?.contains("--tree-limit") == true)
                }
                // A restart repeats none of them; with a raised limit one of them runs.
                let again = try await bench.look()
                #expect(again.code == 0, "\(again.output)\(again.errors)")
                #expect(try await bench.runs().count == 3)
                let rerun = try await bench.pipectl("rerun", "2", "--tree-limit", "file-size=200")
                #expect(rerun.code == 0, "\(rerun.output)\(rerun.errors)")
            }
        }

        /// The line of a tree for a folder of ten folders of ten folders…, ten billion files in all.
        private static func bomb(in bench: Bench) async throws -> String {
            let made = try await bench.command(
                [
                    "sh", "-c",
                    """
                    line="100644 blob $(echo boom | git hash-object -w --stdin)"
                    for level in 1 2 3 4 5 6 7 8 9 10; do
                        line="040000 tree $(for i in 0 1 2 3 4 5 6 7 8 9; do printf '%s\\t%s\\n' "$line" $i; done | git mktree)"
                    done
                    printf '%s\\tbomb' "$line"
                    """,
                ], in: bench.repository)
            try #require(made.code == 0, "\(made.errors)")
            return made.output
        }

        private static func file(of bytes: Int, in bench: Bench) async throws -> String {
            let made = try await bench.command(
                [
                    "sh", "-c",
                    "printf '100644 blob %s\\tzeros' $(head -c \(bytes) /dev/zero | git hash-object -w --stdin)",
                ], in: bench.repository)
            try #require(made.code == 0, "\(made.errors)")
            return made.output
        }

        /// A change that adds the line to main's tree.
        private static func change(_ number: Int, with line: String, in bench: Bench) async throws {
            let made = try await bench.command(
                [
                    "sh", "-c",
                    """
                    tree=$( (git ls-tree main; echo "$0") | git mktree) &&
                    commit=$(git commit-tree -p main -m "Change \(number)" $tree) &&
                    git update-ref refs/pull/\(number)/head $commit
                    """, line,
                ], in: bench.repository)
            try #require(made.code == 0, "\(made.errors)")
        }
    }
#endif
