import Concurrency
import Foundation
import Git
import MachineProtocol
import Masking
import Pipeline
import Sandbox
import Synchronization
import SystemPackage
import TestBasics
import TestSupport
import Testing

@testable import Engine
@testable import Machines
@testable import Results

/// Runs on a machine whose agent is the real program, over the real protocol.
@Suite(.runFolder, .timeLimit(.minutes(3))) struct AgentRunTests {
    private let junit = """
        <testsuite name="s"><testcase classname="C" name="good"/>
        <testcase classname="C" name="bad"><failure message="1 is not 2"/></testcase></testsuite>
        """

    private var steps: [PlannedStep] {
        [
            .shell(
                "build",
                """
                mkdir -p out/void; sh ./tool > out/a; cp tool out/b; ln -s a out/link
                printf '"1.2"' > "$PIPECTL_VALUES_OUT/version.json"; echo built
                """
            ) {
                $0.outputs = ["out/**"]
                $0.artifacts = ["out/a", "out/b"]
                $0.publishes = ["version"]
            },
            .shell(
                "test",
                """
                cat out/link "$PIPECTL_VALUES_IN/version.json"; cat > results.xml <<'X'
                \(junit)
                X
                echo 'src/a.c:1:5: error: expected ;'; exit 3
                """, needs: ["build"]
            ) {
                $0.testResults = [.junit("*.xml")]
                $0.findings = [.output]
            },
            .shell("secret", "echo $TOKEN; cat $KEY_FILE", needs: ["build"]) {
                $0.secrets = [SecretUse("TOKEN", as: .environment), SecretUse("KEY")]
            },
            .shell("inside", "cat a.c", needs: ["build"]) { $0.workingDirectory = "src" },
            PlannedStep(name: "absent", action: .command(["/nonexistent/program"]), needs: ["build"]),
            .shell("nothing", "true", needs: ["build"]) { $0.artifacts = ["no/such/*"] },
            .shell("unpublished", "true", needs: ["build"]) { $0.publishes = ["gone"] },
            .shell("slow", "echo begun; sleep 20", needs: ["build"]) { $0.timeout = 0.5 },
            .shell("much", "head -c 3000000 /dev/zero | tr '\\0' x", needs: ["build"]),
            .shell("never", "true", needs: ["test"]),
        ]
    }

    private func commit(_ bench: MachineBench) async throws -> String {
        try await bench.repository.commit(["src/a.c": "int x\n", "tool": "echo tool\n"], "one")
    }

    @Test func `the report is the same as on this machine`() async throws {
        let bench = try await MachineBench.make()
        let commit = try await commit(bench)
        let secrets = RunSecrets([
            Secret(name: "TOKEN", bytes: Array("t0p-secret-token".utf8)),
            Secret(name: "KEY", bytes: Array("another-secret-value\n".utf8)),
        ])
        let steps = steps
        try await bench.repository.git("worktree", "add", "--detach", bench.room.workspace, commit)
        let here = await run(steps, bench.setting(bench.localPlace("here"), run: "here") { $0.secrets = secrets })
        let there = try await bench.withMachine(at: commit) { place, client in
            #expect(client.greeting.cores > 0 && client.greeting.memory > 0)
            return await run(steps, bench.setting(place, run: "there") { $0.secrets = secrets })
        }
        for (one, other) in zip(here.steps, there.steps) {
            #expect(one.status == other.status, "\(one.name): \(other.reason ?? "")")
            #expect(one.attempts.map(\.exitCode) == other.attempts.map(\.exitCode), "\(one.name)")
            #expect(bench.log(one, run: "here") == bench.log(other, run: "there"), "\(one.name)")
        }
        #expect(here.tests == there.tests && !there.tests.isEmpty)
        #expect(Set(here.findings.map { "\($0)" }) == Set(there.findings.map { "\($0)" }))
        #expect(Set(here.artifacts.map(\.sha256)) == Set(there.artifacts.map(\.sha256)))
        #expect(here.verdict == there.verdict && there.isAllEnded)
        #expect(bench.log(there["secret"], run: "there").contains("t0p-secret") == false)
        #expect(there["slow"].status == .timedOut)
        #expect(bench.runs.isEmpty)
    }

    @Test func `a small change sends little, and a known commit nothing`() async throws {
        let bench = try await MachineBench.make()
        var files: [String: String] = [:]
        for number in 0..<3_000 { files["all/file-\(number).txt"] = "\(number) \(UInt64.random(in: .min ... .max))\n" }
        let first = try await bench.repository.commit(files, "one")
        let second = try await bench.repository.commit(["all/file-7.txt": "changed\n"], "two")
        let step = PlannedStep.shell("s", "cat all/file-7.txt; git log --format=%s; ls all | wc -l")
        var sent: [Int] = []
        for commit in [first, second, second] {
            let (bytes, outcome) = try await bench.withMachine(at: commit) { place, client in
                (
                    client.sent.packs,
                    await run([step], bench.setting(place, run: "run-\(UInt32.random(in: 0 ... .max))"))
                )
            }
            #expect(outcome.verdict == .passed, "\(outcome.reason)")
            sent.append(bytes)
        }
        #expect(sent[0] > 64 << 10)
        #expect(sent[1] > 0 && sent[1] < 64 << 10)
        #expect(sent[2] == 0)
    }

    @Test func `machines that share a folder are sent a commit once, and only into a folder of their user`()
        async throws
    {
        var bench = try await MachineBench.make()
        let shared = bench.room.path("mounts") + "/shared"
        bench.shared = shared
        let commit = try await bench.repository.commit(["a": "1\n"], "one")
        let step = PlannedStep.shell("s", "cat a")
        await #expect(throws: (any Error).self, "a folder that is not mounted is not made") {
            _ = try await bench.withMachine(at: commit) { _, _ in }
        }
        try FileManager.default.createDirectory(atPath: shared, withIntermediateDirectories: true)
        var sent: [Int] = []
        for folder in ["one", "two"] {
            bench.folder = folder
            let own = bench
            let (bytes, outcome) = try await own.withMachine(at: commit) { place, client in
                (client.sent.packs, await run([step], own.setting(place, run: "run-\(folder)")))
            }
            #expect(outcome.verdict == .passed, "\(outcome.reason)")
            sent.append(bytes)
        }
        #expect(sent[0] > 0 && sent[1] == 0)
        #expect(try FileManager.default.contentsOfDirectory(atPath: shared).sorted() == ["mirrors", "outputs"])
        guard geteuid() == 0 else { return }
        #expect(chown("\(shared)/mirrors", 65_534, 65_534) == 0)
        let own = bench
        await #expect(throws: (any Error).self) { _ = try await own.withMachine(at: commit) { _, _ in } }
    }

    @Test func `a damaged mirror is replaced`() async throws {
        let bench = try await MachineBench.make()
        let first = try await bench.repository.commit(["a": String(repeating: "one\n", count: 1_000)], "one")
        _ = try await bench.withMachine(at: first) { _, client in client.sent.packs }
        let packs = "\(bench.agentFolder)/mirrors/repository/1.git/objects/pack"
        for name in try FileManager.default.contentsOfDirectory(atPath: packs) where name.hasSuffix(".pack") {
            chmod("\(packs)/\(name)", 0o644)
            let file = try #require(FileHandle(forUpdatingAtPath: "\(packs)/\(name)"))
            try file.seek(toOffset: 14)
            try file.write(contentsOf: Data(repeating: 0x55, count: 60))
            try file.close()
        }
        for commit in [first, try await bench.repository.commit(["b": "two\n"], "two")] {
            let outcome = try await bench.withMachine(at: commit) { place, _ in
                await run([.shell("s", "wc -l < a")], bench.setting(place, run: commit))
            }
            #expect(outcome.verdict == .passed, "\(outcome.reason)")
        }
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: "\(bench.agentFolder)/mirrors/repository")
                == ["2.git"])
    }

    @Test(arguments: [String(repeating: "n", count: 300), "git~1", "d/git~1/b"])
    func `a commit that the machine can't check out costs no mirror`(_ path: String) async throws {
        let bench = try await MachineBench.make()
        let good = try await bench.repository.commit(["a": "one\n"], "one")
        let bad = try await bench.repository.commit(at: path, contentOf: "a", in: good)
        let problem = await #expect(throws: MachineProblem.self) {
            try await bench.withMachine(at: bad) { _, _ in }
        }
        guard case .files = problem else {
            Issue.record("\(String(describing: problem))")
            return
        }
        let outcome = try await bench.withMachine(at: good) { place, client in
            // An empty pack.
            #expect(client.sent.packs < 100)
            return await run([.shell("s", "cat a")], bench.setting(place))
        }
        #expect(outcome.verdict == .passed, "\(outcome.reason)")
        let mirrors = "\(bench.agentFolder)/mirrors/repository"
        #expect(try FileManager.default.contentsOfDirectory(atPath: mirrors) == ["1.git"])
    }

    @Test func `a mirror with too many packs is replaced, and one that nobody used is removed`() async throws {
        let bench = try await MachineBench.make()
        let first = try await bench.repository.commit(["a": "one\n"], "one")
        func passes(_ commit: String) async throws -> Int {
            try await bench.withMachine(at: commit) { place, client in
                let outcome = await run([.shell("s", "cat a")], bench.setting(place, run: commit))
                #expect(outcome.verdict == .passed, "\(outcome.reason)")
                return client.sent.packs
            }
        }
        _ = try await passes(first)
        #expect(try await passes(first) == 0)
        let files = FileManager.default
        let mirrors = "\(bench.agentFolder)/mirrors"
        for number in 0...200 {
            try Data().write(to: URL(fileURLWithPath: "\(mirrors)/repository/1.git/objects/pack/pack-\(number).pack"))
        }
        // As if it were of a repository that was removed long ago.
        try files.copyItem(atPath: "\(mirrors)/repository", toPath: "\(mirrors)/old")
        _ = try await ExternalCommand("find", ["\(mirrors)/old", "-exec", "touch", "-t", "202001010000", "{}", "+"])
            .run()
        #expect(try await passes(first) > 0)
        #expect(try files.contentsOfDirectory(atPath: "\(mirrors)/repository") == ["2.git"])
        #expect(try await passes(first) == 0)
        #expect(try files.contentsOfDirectory(atPath: mirrors) == ["repository"])
    }

    @Test func `stored outputs are sent once`() async throws {
        let bench = try await MachineBench.make()
        let commit = try await commit(bench)
        let key = StepKey(value: String(repeating: "a", count: 64), definition: "d", parts: [:])
        let build = PlannedStep.shell("build", "mkdir -p out/void; head -c 300000 /dev/urandom > out/a; ln -s a out/l")
        {
            $0.outputs = ["out/**"]
        }
        let made = try await bench.withMachine(at: commit) { place, _ in
            await run([build], bench.setting(place, run: "first") { $0.keys = ["build": key] })
        }
        let outputs = try #require(made["build"].outputs, "\(made.findings)")
        let proved = ProvedStep(
            citation: ProofCitation(run: 7, attempt: 1, step: "build"), key: key,
            restores: StoredOutputs(
                path: "\(bench.room.path("first"))/artifacts/\(outputs.sha256)", sha256: outputs.sha256))
        let use = PlannedStep.shell("use", "wc -c < out/l; test -d out/void", needs: ["build"])
        var sent: [Int] = []
        for name in ["second", "third"] {
            let (bytes, outcome) = try await bench.withMachine(at: commit) { place, client in
                let outcome = await run(
                    [build, use], bench.setting(place, run: name) { $0.proved = ["build": proved] })
                return (client.sent.outputs, outcome)
            }
            #expect(outcome.verdict == .passed, "\(outcome.findings)")
            #expect(bench.log(outcome["use"], run: name).contains("300000"))
            sent.append(bytes)
        }
        #expect(sent[0] >= 300_000 && sent[1] == 0)
    }

    @Test func `a stopped run ends its steps there`() async throws {
        let bench = try await MachineBench.make()
        let commit = try await commit(bench)
        let (stop, begun) = (StopSignal(), Happening())
        let marker = Marker()
        let outcome = try await bench.withMachine(at: commit) { place, _ in
            async let running = run(
                [.shell("stubborn", "trap '' TERM; echo begun; while :; do sleep 0.1\(marker); done")],
                bench.setting(place), stop: stop
            ) { if case .stepOutput = $0 { begun.happens() } }
            try await begun.wait()
            stop.stop(StopRequest(.superseded, reason: "a newer push came"))
            return await running
        }
        #expect(outcome.verdict == .superseded && outcome.isAllEnded)
        #expect(outcome["stubborn"].status == .cancelled)
        #expect(try await marker.isGone(within: .seconds(10)))
    }
}

extension TestRepository {
    /// A commit with a submodule and one more file, whose path Git does not check.
    ///
    /// - Parameter file: The file at `parent` whose content it has.
    func commit(at path: String, contentOf file: String, in parent: String) async throws -> String {
        let blob = try await git("rev-parse", "\(parent):\(file)")
        try await git("read-tree", parent)
        try await git(
            "-c", "core.protectNTFS=false", "update-index", "--add", "--cacheinfo", "100644,\(blob),\(path)",
            "--cacheinfo", "160000,\(parent),submodule")
        let tree = try await git("write-tree")
        return try await git("commit-tree", "-p", parent, "-m", "odd", tree)
    }
}
