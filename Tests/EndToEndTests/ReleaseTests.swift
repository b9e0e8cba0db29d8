import DaemonLog
import Foundation
import Results
import TestBasics
import TestSupport
import Testing

/// Releases, from a merge to files that somebody can check.
struct ReleaseTests {
    /// A release with an approval before it is published in a folder outside the repository.
    private static func files(publishing folder: String, version: String = ".file(\"VERSION\")") -> [String: String] {
        [
            "workflows/x.swift": """
            import Pipeline

            let release = Workflow("release", on: .merge(into: "main")) {
                let build = Step("build", run: "mkdir -p dist && echo \\"$PIPECTL_VERSION $PIPECTL_MARKETING_VERSION $PIPECTL_BUILD_NUMBER\\" > dist/app.txt && test -z \\"${SIGNING_KEY_FILE+set}\\"")
                    .idempotent().artifacts("dist/*")
                let version = Release(version: \(version), files: "dist/*", needs: build).signed(with: "SIGNING_KEY")
                let gate = Step.approval("publish it", needs: version.step)
                Step.publish("folder", version, needs: gate, to: .folder("\(folder)"))
            }
            @main struct Workflows: WorkflowSet { static let workflows = [release] }

            """,
            "VERSION": "1.0.0\n",
        ]
    }

    /// A key that tests make public.
    private static let key = Data(repeating: 7, count: 32).base64EncodedString()

    private func setKey(_ bench: Bench) async throws {
        let file = "\(bench.meet)/key"
        try Self.key.write(toFile: file, atomically: true, encoding: .utf8)
        let command = "exec \"$@\" < \"$KEY\""
        let set = try await bench.command(
            ["env", "KEY=\(file)", "sh", "-c", command, "sh", Bench.pipectl, "secrets", "set", "SIGNING_KEY"])
        #expect(set.code == 0, "\(set.errors)")
    }

    private func release(_ bench: Bench, _ version: String = "latest") async throws -> ReleaseRecord {
        struct Detail: Decodable { var release: ReleaseRecord }
        let output = try await bench.pipectl("release", "show", version, "--json").output
        return try ArchiveJSON.decode(Detail.self, from: output).release
    }

    @Test(.timeLimit(.minutes(8)))
    func `a merge becomes a signed release, whose notes a person edits before it is published`() async throws {
        try await Bench.with([:]) { bench in
            let target = "\(bench.meet)/published"
            try FileManager.default.createDirectory(atPath: target, withIntermediateDirectories: true)
            try await setKey(bench)
            try await bench.commit(Self.files(publishing: target), "Declare the release")
            try await bench.withDaemon { daemon in
                try await daemon.event(.baseline)
                try await bench.commit(["a.txt": "a\n"], "Add a")
                try await daemon.event(.stepNeedsApproval, run: 1)
                let draft = try await release(bench)
                #expect(draft.state == .draft)
                #expect(draft.gate?.run == 1 && draft.gate?.step == "publish it" && draft.gate?.isRejected == false)
                #expect(draft.version == "1.0.0")
                #expect(draft.files.map(\.name).contains("app.txt.minisig"))
                #expect(draft.files.map(\.name).contains("provenance.intoto.jsonl"))
                #expect(!FileManager.default.fileExists(atPath: "\(target)/1.0.0"))
                let notes = "\(bench.meet)/notes.md"
                try "Better than ever.\n".write(toFile: notes, atomically: true, encoding: .utf8)
                #expect(try await bench.pipectl("release", "notes", "1.0.0", "--file", notes).code == 0)
                #expect(try await bench.pipectl("approve", "1", "--step", "publish it").code == 0)
                let ended = try await daemon.ended(1)
                #expect(ended.verdict == .passed, "\(ended.message)")
                let published = try await release(bench, "v1.0.0")
                #expect(published.state == .published && published.gate == nil)
                #expect(published.publications.map(\.state) == [.released])
                #expect(
                    try String(contentsOfFile: "\(target)/1.0.0/NOTES.md", encoding: .utf8) == "Better than ever.\n")
                #expect(
                    try String(contentsOfFile: "\(target)/1.0.0/app.txt", encoding: .utf8)
                        == "1.0.0 1.0.0 \(published.buildNumber)\n")
                // From now on the notes are signed.
                #expect(try await bench.pipectl("release", "notes", "1.0.0", "--file", notes).code == 2)
                // The branch moves on with the same version: nothing is released, and the rest is run.
                try await bench.git(["tag", "v1.0.0", published.commit])
                try await bench.commit(["b.txt": "b\n"], "Add b")
                let second = try await daemon.ended(2)
                #expect(second.verdict == .passed, "\(second.message)")
                try await bench.archived(2)
                let report = try await bench.report(2)
                #expect(report.steps.map(\.name) == ["build"])
                #expect(report.findings.contains { $0.rule == "release-left-out" })
                #expect(try await bench.pipectl("release", "yank", "1.0.0", "--reason", "it is a test").code == 0)
                // A version that was withdrawn is never that of another commit.
                try await bench.commit(["c.txt": "c\n"], "Add c")
                let third = try await daemon.ended(3)
                #expect(third.verdict == .failed, "\(third.message)")
                #expect(try await release(bench, "1.0.0").state == .yanked)
                #expect(await daemon.stop() == 0)
            }
            // An index that is built anew knows the version, too.
            #expect(try await bench.pipectl("archive", "reindex").code == 0)
            let output = try await bench.pipectl("releases", "--json").output
            #expect(try ArchiveJSON.decode([ReleaseRecord].self, from: output).map(\.state) == [.yanked])
        }
    }

    @Test(.timeLimit(.minutes(8)))
    func `a draft that was rejected gives its version to the fix`() async throws {
        try await Bench.with([:]) { bench in
            let target = "\(bench.meet)/published"
            try FileManager.default.createDirectory(atPath: target, withIntermediateDirectories: true)
            try await setKey(bench)
            try await bench.commit(Self.files(publishing: target), "Declare the release")
            try await bench.withDaemon { daemon in
                try await daemon.event(.baseline)
                try await bench.commit(["a.txt": "a\n"], "Add a")
                try await daemon.event(.stepNeedsApproval, run: 1)
                #expect(try await bench.pipectl("approve", "1", "--step", "publish it", "--reject").code == 0)
                #expect(try await daemon.ended(1).verdict == .failed)
                let fix = try await bench.commit(["a.txt": "b\n"], "Fix a")
                try await daemon.event(.stepNeedsApproval, run: 2)
                #expect(try await release(bench).commit == fix)
                #expect(try await bench.pipectl("approve", "2", "--step", "publish it").code == 0)
                #expect(try await daemon.ended(2).verdict == .passed)
                #expect(try await release(bench).state == .published)
                // The run that was rejected has nothing to publish any more.
                #expect(try await bench.pipectl("rerun", "1").code == 1)
                #expect(await daemon.stop() == 0)
            }
        }
    }

    @Test(.timeLimit(.minutes(8)))
    func `a release is tried in a working tree, and refused for a branch that is not protected`() async throws {
        try await Bench.with([:]) { bench in
            try await bench.commit(Self.files(publishing: "\(bench.meet)/published"), "Declare the release")
            let tried = try await bench.pipectl("run", "release")
            #expect(tried.code == 0, "\(tried.errors)")
            #expect(try await bench.pipectl("run", "release", "--step", "folder").code == 2)
            try await bench.git(["checkout", "-qb", "side"])
            try await bench.commit(["a.txt": "a\n"], "Add a")
            try await bench.git(["checkout", "-q", "main"])
            // Nobody is asked for an approval that could not help.
            let refused = try await bench.pipectl("run", "release", "--ref", "side")
            #expect(refused.code == 1, "\(refused.errors)")
            let none = try await bench.pipectl("releases", "--json").output
            #expect(try ArchiveJSON.decode([ReleaseRecord].self, from: none).isEmpty)
        }
    }

    @Test(.timeLimit(.minutes(8)))
    func `a release whose daemon is killed is made once`() async throws {
        try await Bench.with([:]) { bench in
            let target = "\(bench.meet)/published"
            try FileManager.default.createDirectory(atPath: target, withIntermediateDirectories: true)
            try await setKey(bench)
            try await bench.commit(
                Self.files(publishing: target, version: ".counted(\"2\")"), "Declare the release")
            try await bench.withDaemon { daemon in
                try await daemon.event(.baseline)
                try await bench.commit(["a.txt": "a\n"], "Add a")
                try await daemon.event(.stepNeedsApproval, run: 1)
                daemon.child.kill()
                _ = await daemon.child.end
            }
            let first = try await release(bench)
            try await bench.withDaemon { daemon in
                try await daemon.event(.stepNeedsApproval, run: 1)
                let second = try await release(bench)
                #expect(second.madeAt == first.madeAt)
                #expect(second.files == first.files)
                #expect(try await bench.pipectl("approve", "1", "--step", "publish it").code == 0)
                let ended = try await daemon.ended(1)
                #expect(ended.verdict == .passed, "\(ended.message)")
                #expect(await daemon.stop() == 0)
            }
            #expect(
                try FileManager.default.contentsOfDirectory(atPath: target).filter { !$0.hasPrefix(".") } == [
                    first.version
                ])
            #expect(first.marketingVersion == "2")
            #expect(
                try String(contentsOfFile: "\(target)/\(first.version)/app.txt", encoding: .utf8)
                    == "2.\(first.buildNumber) 2 \(first.buildNumber)\n")
        }
    }

    @Test(.timeLimit(.minutes(6)))
    func `a change that would be released is refused`() async throws {
        let workflows = """
            import Pipeline

            let test = Workflow("test", on: .pullRequest(into: "main")) {
                let build = Step("build", run: "echo a > a.txt").artifacts("a.txt")
                Release(version: .counted("1"), files: "a.txt", needs: build)
            }
            @main struct Workflows: WorkflowSet { static let workflows = [test] }

            """
        try await Bench.with(["workflows/x.swift": workflows]) { bench in
            _ = try await bench.look()
            try await bench.change(1, ["b.txt": "b\n"])
            _ = try await bench.look()
            #expect(try await bench.run(1).verdict == .definitionError)
            let none = try await bench.pipectl("releases", "--json").output
            #expect(try ArchiveJSON.decode([ReleaseRecord].self, from: none).isEmpty)
        }
    }
}
