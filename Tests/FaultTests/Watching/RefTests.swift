import DaemonLog
import TestBasics
import Results
import Foundation
import GRDB
import TestSupport
import Testing

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// Changes to the refs and objects of the watched repository by others: faults 27 to 29, 31 and 37.
struct RefTests {
    @Test("fault 27: a branch is forced, deleted and made again between two looks", .timeLimit(.minutes(6)))
    func rewritten() async throws {
        try await Bench.faults { bench in
            for name in ["started", "never"] { try bench.meetingPoint(name) }
            try await bench.withDaemon { daemon in
                try await daemon.event(.baseline)
                try await bench.change(1, ["check.sh": "echo up > \(bench.meet)/started; cat \(bench.meet)/never\n"])
                try await bench.arrival(at: "started")
                // While it is stopped it misses the states in between.
                daemon.child.signal(SIGSTOP)
                for text in ["b", "c"] { try await bench.change(1, ["a.txt": "\(text)\n"]) }
                try await bench.git(["update-ref", "-d", "refs/pull/1/head"])
                let last = try await bench.change(1, ["a.txt": "last\n"])
                daemon.child.signal(SIGCONT)
                try await daemon.event(.runQueued, run: 2)
                for run in 1...2 { try await bench.follow(run) }
                #expect(await daemon.stop() == 0)
                let runs = try await bench.runs()
                #expect(runs.map(\.verdict) == [.passed, .superseded])
                #expect(runs.first?.head == last, "one run, for what is there in the end")
            }
            let found = try await Invariants(bench: bench, accepted: [1, 2]).check()
            #expect(found.isClean, "\(found.problems)")
        }
    }

    @Test(
        "fault 28: a thousand refs move in one look",
        .enabled(if: Machine.isLinux, "the moment is chosen by a library"),
        .timeLimit(.minutes(10)))
    func thousand() async throws {
        try await Bench.faults(on: Machine.fastDisk) { bench in
            let shim = try await Shim(.disk, bench)
            _ = try await bench.look()
            let load = try await KillLoad(bench, marker: Marker(), changes: 1_000)
            var pushed = load
            try await pushed.push(changes: 1_000, releases: 0)
            // In the middle of the transaction nothing is recorded; before the first process everything is.
            let middle = Moment(match: "write \(bench.home)/index.sqlite-wal", number: 300)
            #expect(try await bench.look(killedAt: middle, shim) != nil)
            #expect(try await queued(bench) == [])
            #expect(try await bench.look(killedAt: Machine.firstProcess, shim) != nil)
            let order = try await queued(bench)
            #expect(order.count == 1_000)
            #expect(Set(order) == Set(1...1_000))

            try await bench.withDaemon("--slots", "2") { daemon in
                try await daemon.event(.watching)
                try await bench.follow(1_000 / 20)
                let peak = try #require(daemon.status("VmHWM"))
                #expect(peak < 400 << 10, "the daemon needs \(peak >> 10) MiB at most")
                let ended = try await bench.runs().filter { $0.state == .ended }
                #expect(ended.allSatisfy { $0.verdict == .passed })
                #expect(ended.map(\.id).max() ?? 0 <= Int64(ended.count + 8), "no run waits while later ones end")
            }
        }
    }

    /// Numbers of changes whose runs are queued or were interrupted, in the order in which they were recorded.
    private func queued(_ bench: Bench) async throws -> [Int] {
        let queue = try DatabaseQueue(path: "\(bench.home)/index.sqlite")
        defer { try? queue.close() }
        let names = try await queue.read { try String.fetchAll($0, sql: "SELECT changeName FROM run ORDER BY id") }
        return names.compactMap(Int.init)
    }

    @Test("fault 29: gc, repack and pack-refs in a loop on the watched repository", .timeLimit(.minutes(30)))
    func collection() async throws {
        let count = Form.isLong ? 200 : 20
        try await Bench.faults { bench in
            _ = try await bench.look()
            var load = try await KillLoad(bench, marker: Marker(), changes: count)
            let loop = """
                while :; do
                    git gc -q --prune=now; git pack-refs --all --prune; git repack -q -a -d; git prune --expire=now
                    echo >> "$0"
                done
                """
            let cycles = "\(bench.root)/cycles"
            let collector = try Child(
                ["sh", "-c", loop, cycles], in: bench.repository, environment: bench.environment,
                output: "\(bench.root)/collector-")
            let limit = Duration.seconds(Form.isLong ? 1_500 : 600)
            do {
                for _ in 0..<(count / 10) {
                    try await load.push(changes: 10, releases: 0)
                    let ended = try await bench.command(
                        [
                            Bench.pipectl, "watch", "--once", "--log-format", "json", "--minimum-free", "0",
                            bench.repository,
                        ], within: limit)
                    #expect(ended.code == 0, "\(ended.output)\(ended.errors)")
                    load.hear(ended.errors)
                }
            } catch {
                collector.kill()
                throw error
            }
            collector.kill()
            _ = await collector.end
            #expect((FileManager.default.contents(atPath: cycles)?.count ?? 0) >= 1, "the loop went round")
            let found = try await load.invariants().check()
            #expect(found.isClean, "\(found.problems)")
            #expect(found.runs.count == count)
            #expect(found.runs.allSatisfy { $0.verdict == .passed }, "no checkout failed")
        }
    }

    @Test(
        "fault 31: killed in the middle of a checkout",
        .enabled(if: Machine.isLinux, "the moment is chosen by a library"),
        .timeLimit(.minutes(6)), arguments: [30, 300, 590])
    func checkout(call: Int) async throws {
        let files = Dictionary(uniqueKeysWithValues: (1...200).map { ("src/\($0).txt", "file \($0)\n") })
        let check = """
            test -z "$(git status --porcelain)" && test "$(git rev-parse 'HEAD^{tree}')" = "$(git write-tree)" \
            && ls src | wc -l
            """
        try await Bench.faults(files.merging(["check.sh": check]) { $1 }) { bench in
            let shim = try await Shim(.disk, bench)
            _ = try await bench.look()
            let head = try await bench.change(1, ["a.txt": "a\n"])
            let hit = try await bench.look(killedAt: Moment(match: " \(bench.home)/workspaces/", number: call), shim)
            #expect(hit != nil)
            let half = "\(bench.home)/workspaces/1-1"
            #expect(FileManager.default.fileExists(atPath: half), "half a checkout is there")
            let after = try await bench.look()
            let log = try await bench.pipectl("logs", "1").output
            #expect(after.code == 0, "\(after.errors)\(log)")
            #expect(log.trimmingCharacters(in: .whitespacesAndNewlines) == "200")
            let found = try await Invariants(bench: bench, expected: ["test \(head)"], accepted: [1]).check()
            #expect(found.isClean, "\(found.problems)")
        }
    }

    @Test("fault 37: another writer of refs/notes/pipectl in a loop", .timeLimit(.minutes(10)))
    func notes() async throws {
        let count = Form.isLong ? 60 : 8
        try await Bench.faults { bench in
            _ = try await bench.look()
            // A careful writer: it adds an entry to the tree and moves the ref only if no other process did.
            let writer = """
                number=0
                while :; do
                    number=$((number + 1))
                    blob=$(echo "theirs $number" | git hash-object -w --stdin)
                    name=$(printf '%040x' $number)
                    until old=$(git rev-parse -q --verify refs/notes/pipectl || echo 0000000000000000000000000000000000000000)
                        tree=$({ [ "$old" = 0000000000000000000000000000000000000000 ] || git ls-tree "$old"
                                 printf '100644 blob %s\\t%s\\n' "$blob" "$name"; } | git mktree)
                        commit=$(git commit-tree -m theirs "$tree")
                        git update-ref refs/notes/pipectl "$commit" "$old" 2>/dev/null
                    do :; done
                    echo $number >> "$0"
                done
                """
            let written = "\(bench.root)/written"
            let child = try Child(
                ["sh", "-c", writer, written], in: bench.repository, environment: bench.environment,
                output: "\(bench.root)/writer-")
            var heads: [String] = []
            do {
                for number in 1...count {
                    heads.append(try await bench.change(number, ["n.txt": "\(number)\n"]))
                    let ended = try await bench.look("--notes")
                    #expect(ended.code == 0, "\(ended.errors)")
                    #expect(!ended.errors.contains("could not be written"), "\(ended.errors)")
                }
            } catch {
                child.kill()
                throw error
            }
            child.kill()
            _ = await child.end
            // One line each, so that a writer that is killed has reported its entries until then.
            let theirs = String(decoding: FileManager.default.contents(atPath: written) ?? Data(), as: UTF8.self)
            let last = try #require(theirs.split(separator: "\n").last.flatMap { Int($0) })
            #expect(last >= count, "the other writer was busy")
            let names = try await bench.git(["ls-tree", "-r", "--name-only", "refs/notes/pipectl"])
                .split(separator: "\n").map { $0.replacingOccurrences(of: "/", with: "") }
            for number in 1...last {
                let name =
                    String(repeating: "0", count: 40 - String(number, radix: 16).count) + String(number, radix: 16)
                #expect(names.contains(name), "theirs, number \(number)")
            }
            let tested = try await bench.runs().compactMap(\.testedCommit)
            #expect(tested.count == count)
            for commit in Set(tested + heads) where !names.contains(commit) {
                // A note is at the head or at the tested commit.
                let run = try await bench.runs().first { $0.head == commit || $0.testedCommit == commit }
                #expect(names.contains(run?.head ?? "") || names.contains(run?.testedCommit ?? ""), "ours at \(commit)")
            }
        }
    }
}
