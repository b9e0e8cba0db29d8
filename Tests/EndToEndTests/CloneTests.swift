import DaemonLog
import TestBasics
import Results
import Foundation
import TestSupport
import Testing

@Suite struct CloneTests {
    @Test(.timeLimit(.minutes(6)))
    func `a clone is the repository that is watched`() async throws {
        let steps = #"Step("check", run: "sh check.sh && git cat-file -t HEAD")"#
        try await Bench.with(Workflows.test(steps, files: ["check.sh": "exit 0\n"])) { bench in
            let clone = "\(bench.root)/clone"
            try await bench.withDaemon("--changes", "agent/*") { daemon in
                try await daemon.event(.baseline)
                try await bench.git(["clone", "-q", "file://\(bench.repository)", clone], in: bench.root)
                // Commits that both have are run as in the repository itself; unpushed commits come from the clone.
                let main = try await bench.pipectl("run", "test", "--ref", "main", in: clone)
                #expect(main.code == 0, "\(main.output)\(main.errors)")
                try await bench.git(["commit", "-q", "--allow-empty", "-m", "Mine"], in: clone)
                let mine = try await bench.pipectl("run", "test", "--ref", "main", in: clone)
                #expect(mine.code == 0, "\(mine.output)\(mine.errors)")
                try Data("exit 1\n".utf8).write(to: URL(fileURLWithPath: "\(clone)/check.sh"))
                #expect(try await bench.pipectl("run", "test", in: clone).code == 1, "the working tree is the clone's")
                let runs = try await bench.runs()
                #expect(runs.map(\.repository) == ["repo", "repo", "repo"])
                #expect(runs.map(\.branch) == [nil, nil, "main"], "a clone's main is not the repository's")
                #expect(runs.map(\.trust) == [.change, .change, .merged])
                let status = try await bench.pipectl("status", "--all")
                #expect(!status.output.contains("not watched"), "\(status.output)")
                for name in [".", "repo", bench.repository] {
                    let listed = try await bench.pipectl("runs", "--repository", name, "--json", in: clone)
                    #expect(listed.code == 0 && listed.output.contains("\"head\""), "\(name): \(listed.errors)")
                }
                let unknown = try await bench.pipectl("runs", "--repository", "nosuch", in: clone)
                #expect(unknown.code == 2 && unknown.errors.contains("repo"), "\(unknown.errors)")
                try await bench.git(["push", "-q", "origin", "HEAD:refs/heads/agent/one"], in: clone)
                // The branch of a change is checked out, which is not the branch that changes land on.
                try await bench.git(["switch", "-qc", "agent/two"], in: clone)
                try await bench.git(["commit", "-q", "--allow-empty", "-m", "Open"], in: clone)
                try await bench.git(["push", "-q", "origin", "agent/two"], in: clone)
                let open = try await bench.pipectl("landed", in: clone)
                #expect(open.code == 0 && !open.output.contains("agent/two"), "\(open.output)\(open.errors)")
                try await bench.git(["merge", "-q", "--no-ff", "-m", "Merge", "agent/one"])
                let landed = try await bench.pipectl("landed", in: clone)
                #expect(landed.code == 0, "the daemon knows what a change is: \(landed.errors)")
                let elsewhere = try await bench.pipectl(
                    "run", "test", "--repository", "repo", "--ref", "main", in: bench.meet)
                #expect(elsewhere.code == 0, "\(elsewhere.output)\(elsewhere.errors)")
            }
        }
    }
    @Test(.timeLimit(.minutes(6)))
    func `integrity in a clone goes by the watched repository`() async throws {
        try await Bench.with(IntegrityTests.files) { bench in
            try await bench.git(["branch", "-m", "main", "trunk"])
            let clone = "\(bench.root)/clone"
            try await bench.withDaemon { daemon in
                try await daemon.event(.baseline)
                try await bench.git(["clone", "-q", "file://\(bench.repository)", clone], in: bench.root)
                try await bench.git(["checkout", "-q", "-b", "mine"], in: clone)
                func commit(_ path: String, _ text: String) async throws {
                    try Data(text.utf8).write(to: URL(fileURLWithPath: "\(clone)/\(path)"))
                    try await bench.git(["commit", "-qam", path], in: clone)
                }
                try await commit("Tests/SumTests/SumTests.swift", IntegrityTests.tests("adds"))
                try await commit("LICENSE", "mine\n")
                try await commit("check.sh", "exit 0\n")
                // The newest commit alone is harmless. The target decides where the change began and which rules apply.
                let rules = ["SumTests.sums is gone", "LICENSE is changed"]
                for words in [["--folder", clone], ["--repository", clone], ["mine", "--repository", clone]] {
                    let found = try await bench.command([Bench.pipectl, "integrity"] + words, in: bench.root)
                    #expect(found.code == 5, "\(words): \(found.output)\(found.errors)")
                    for rule in rules { #expect(found.output.contains(rule), "\(words): \(found.output)") }
                }
                try await bench.git(["push", "-q", "origin", "mine"], in: clone)
                let named = try await bench.command(
                    [Bench.pipectl, "integrity", "mine", "--repository", "repo"], in: bench.meet)
                #expect(named.code == 5, "\(named.output)\(named.errors)")
                let unknown = try await bench.command(
                    [Bench.pipectl, "integrity", "--repository", "nosuch"], in: bench.meet)
                #expect(unknown.code == 2 && unknown.errors.contains("repo"), "\(unknown.errors)")
                #expect(await daemon.stop() == 0)
            }
        }
    }
}
