import TestBasics
import Results
import Foundation
import TestSupport
import Testing

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// Changes with hostile trees, commits and ref names, and hostile steps: faults 32 and 33.
struct HostileTests {
    /// A folder that nothing may touch, and its present state: names, kinds, modes, sizes, digests.
    private struct Sentinel {
        let bench: Bench
        var path: String { "\(bench.root)/sentinel" }

        init(_ bench: Bench) async throws {
            self.bench = bench
            try await bench.command([
                "sh", "-c", "mkdir \"$0\" && echo secret-7361 > \"$0/file\"", "\(bench.root)/sentinel",
            ])
            .succeeded()
        }

        /// The state of the sentinel, the watched repository's work tree and the folder above all.
        func look() async throws -> String {
            let script = """
                cd "$0" && find sentinel -printf '%p %y %m %s %T@\\n' -exec sha256sum {} + 2>/dev/null | sort
                find repo -name .git -prune -o -printf '%p %y %m %s\\n' | sort
                find . -maxdepth 1 ! -name 'out-*' ! -name 'daemon-*' ! -name object ! -name . -printf '%p %y\\n' | sort
                """
            return try await bench.command(["sh", "-c", script, bench.root]).output
        }
    }

    @Test("fault 32: hostile trees, commits and names of refs", .timeLimit(.minutes(40)))
    func corpus() async throws {
        try await Bench.faults { bench in
            let sentinel = try await Sentinel(bench)
            let cases = try await HostileTrees(bench, sentinel: sentinel.path).all(isLong: Form.isLong)
            #expect(cases.count >= 45)
            _ = try await bench.look()
            var number = 0
            var accepted: Set<Int64> = []
            for hostile in cases {
                number += 1
                try ref("refs/pull/\(number)/head", hostile.head, bench)
                let before = try await sentinel.look()
                let limit = Duration.seconds(Form.isLong ? 600 : 300)
                let ended = try await bench.command(
                    [Bench.pipectl, "watch", "--once", "--minimum-free", "0", bench.repository], within: limit)
                let said = ended.output + ended.errors
                #expect([0, 1, 2, 3].contains(ended.code), "\(hostile.name): ended with \(ended.code): \(said)")
                #expect(!said.isEmpty, "\(hostile.name): a sentence is due")
                #expect(!said.contains("Fatal error"), "\(hostile.name): \(said)")
                #expect(!said.unicodeScalars.contains { $0.value < 32 && $0 != "\n" }, "\(hostile.name): \(said)")
                #expect(try await sentinel.look() == before, "\(hostile.name): something outside was touched")
                for run in try await bench.runs() { accepted.insert(run.id) }
                // The next change is tested although the hostile ref is still there.
                number += 1
                let good = try await bench.git(["commit-tree", "-p", "main", "-m", "Good \(number)", "main^{tree}"])
                try ref("refs/pull/\(number)/head", good, bench)
                let next = try await bench.look()
                let tested = try await bench.runs().first { $0.head == good }
                #expect(tested?.verdict == .passed, "after \(hostile.name): \(next.output)\(next.errors)")
            }
            let found = try await Invariants(bench: bench, accepted: accepted).check()
            #expect(found.isClean, "\(found.problems)")
            for run in found.runs where run.verdict == .infrastructure {
                #expect(run.reason?.isEmpty == false, "run \(run.id) says why")
            }
        }
    }

    /// Writes a ref as a file, since `git update-ref` would refuse some names.
    private func ref(_ name: String, _ id: String, _ bench: Bench) throws {
        let path = URL(fileURLWithPath: "\(bench.repository)/.git/\(name)")
        try FileManager.default.createDirectory(at: path.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data("\(id)\n".utf8).write(to: path)
    }

    @Test(
        "fault 32: names of branches and changes that mean something to a shell or a terminal", .timeLimit(.minutes(6)))
    func refNames() async throws {
        let check = "printf '%s|' \"$PIPECTL_CHANGE\" \"$PIPECTL_REF\" \"$PIPECTL_BRANCH\"\n"
        try await Bench.faults(["check.sh": check]) { bench in
            let sentinel = try await Sentinel(bench)
            _ = try await bench.look("--changes", "agent/*")
            let names = [
                "-rf", "--upload-pack=touch", "$(touch ${IFS}pwned)", "`touch pwned`", "a;touch pwned", "a|b&c",
                "a'b\"c", "%s%n",
                "\u{202E}abc", "é\u{301}", String(repeating: "n", count: 200), "HEAD", "1", "<script>",
            ]
            let before = try await sentinel.look()
            for name in names {
                let head = try await bench.git(["commit-tree", "-p", "main", "-m", name, "main^{tree}"])
                try ref("refs/heads/agent/\(name)", head, bench)
            }
            let ended = try await bench.look("--changes", "agent/*")
            #expect(ended.code == 0, "\(ended.errors)")
            let runs = try await bench.runs()
            #expect(Set(runs.compactMap(\.change)) == Set(names.map { "agent/\($0)" }))
            for run in runs {
                #expect(run.verdict == .passed, "\(run.change ?? "")")
                let name = run.change ?? ""
                #expect(try await bench.pipectl("logs", "\(run.id)").output == "\(name)|refs/heads/\(name)|main|")
            }
            #expect(try await sentinel.look() == before)
        }
    }

    @Test("fault 33: a step poisons its workspace and plants links among its artifacts", .timeLimit(.minutes(6)))
    func hostileStep() async throws {
        let workflow = Workflows.source(
            "Step(\"check\", run: \"sh check.sh\").artifacts(\"dist/**\").testResults(.junit(\"*.xml\"))")
        try await Bench.with(["workflows/x.swift": workflow, "check.sh": ""]) { bench in
            let sentinel = try await Sentinel(bench)
            _ = try await bench.look()
            let mark = { (name: String) in "touch \(bench.root)/sentinel/\(name)" }
            let script = """
                git config core.fsmonitor '\(mark("fsmonitor"))'; git config core.worktree \(sentinel.path)
                git config core.hooksPath hooks; git config core.sshCommand '\(mark("ssh"))'
                git config core.pager '\(mark("pager"))'; git config diff.external '\(mark("diff"))'
                git config filter.evil.clean '\(mark("clean"))'; git config filter.evil.smudge '\(mark("smudge"))'
                echo '* filter=evil' > .gitattributes
                mkdir -p hooks .git/hooks dist/sub
                for hook in post-checkout pre-commit post-index-change reference-transaction fsmonitor-watchman; do
                    printf '#!/bin/sh\\n\(mark("hook"))\\n' > .git/hooks/$hook; cp .git/hooks/$hook hooks/
                    chmod 755 .git/hooks/$hook hooks/$hook
                done
                echo garbage > .git/index; echo /nowhere > .git/objects/info/alternates
                echo mine > dist/good.txt
                ln -s \(sentinel.path)/file dist/link.txt; ln -s \(sentinel.path) dist/folder; ln -s ../../.. dist/up
                ln -s /etc/passwd dist/sub/passwd; mkfifo dist/pipe; ln \(sentinel.path)/file dist/hard 2>/dev/null
                ln -s \(sentinel.path)/file results.xml
                chmod 000 dist/sub
                true
                """
            try await bench.change(1, ["check.sh": script])
            let before = try await sentinel.look()
            let ended = try await bench.look()
            #expect([0, 1, 3].contains(ended.code), "\(ended.output)\(ended.errors)")
            #expect(try await sentinel.look() == before, "nothing that the step planted was run or written to")
            // A hard link looks like any file to a reader, so the sandbox must prevent that it is made.
            let secret = try await bench.command(["grep", "-rl", "secret-7361", "\(bench.home)/artifacts"]).output
            #expect(secret.isEmpty || !Machine.hasSandbox, "a file from outside is among the artifacts: \(secret)")
            let report = try await bench.report(1)
            #expect(report.contains("dist/good.txt"), "\(report.prefix(2000))")
            for planted in ["dist/link.txt\"", "dist/folder/", "dist/up/", "dist/sub/passwd\"", "dist/pipe\""] {
                #expect(!report.contains("\"path\" : \"\(planted)"), "\(planted) was collected")
            }
            try await bench.change(2, ["check.sh": "mkdir dist; echo fine > dist/x; echo '<testsuite/>' > r.xml\n"])
            #expect(try await bench.look().output.contains("run 2  test  passed"))
            let found = try await Invariants(bench: bench, accepted: [1, 2]).check()
            #expect(found.isClean, "\(found.problems)")
        }
    }
}

extension Machine {
    /// Whether steps run in a sandbox on this machine.
    static let hasSandbox = isLinux
}
