import TestBasics
import Foundation
import Results
import Pipeline
import TestSupport
import Testing

/// A push tries to count as trusted: by names of branches, by unreadable refs, by files for agents.
struct EscapeTrustTests {
    /// Prints for each push whether it got the secret. A change passes unless it removes `ok`.
    private static let source = """
        import Pipeline

        let show = Workflow("show", on: .push(to: "**")) {
            Step("show", run: "printf '%s' \\"${TOKEN-nothing}\\" > \\"MEET/$PIPECTL_BRANCH\\"")
                .secrets("TOKEN", as: .environment)
        }
        let test = Workflow("test", on: .pullRequest(into: "**")) { Step("check", run: "test -e ok") }
        @main struct Workflows: WorkflowSet { static let workflows = [show, test] }

        """
    private static let secret = "a-secret-of-the-box"

    private static func with(_ body: (Bench) async throws -> Void) async throws {
        try await Bench.with(["ok": "", "b.txt": "b"]) { bench in
            try await bench.commit(["workflows/x.swift": source.replacing("MEET", with: bench.meet)], "Workflows")
            let set = try await bench.command([
                "sh", "-c", "printf %s \"$1\" | \"$0\" secrets set TOKEN", Bench.pipectl, secret,
            ])
            #expect(set.code == 0, "\(set.errors)")
            try await body(bench)
        }
    }

    /// How a repository is watched, which branch its HEAD names, and which branch is pushed.
    struct Target: Sendable, CustomTestStringConvertible {
        var head: String
        var other: String
        var isRemote: Bool
        /// Whether `other` existed before the first observation.
        var isOld = false
        var testDescription: String { "\(other) beside HEAD \(head), \(isRemote ? "remote" : "local")" }
        var folder: String { "\(head)-\(other)-\(isRemote)" }
    }

    private static let targets = [
        Target(head: "master", other: "main", isRemote: true), Target(head: "master", other: "main", isRemote: false),
        Target(head: "develop", other: "master", isRemote: true, isOld: true),
        Target(head: "develop", other: "main", isRemote: false, isOld: true),
    ]

    /// Clones the bench's repository with another name for its branch; returns the path and the watched location.
    private static func clone(_ target: Target, _ bench: Bench) async throws -> (path: String, location: String) {
        let path = "\(bench.root)/\(target.folder)"
        try await bench.git(
            ["clone", "-q"] + (target.isRemote ? ["--bare"] : []) + [bench.repository, path], in: bench.root)
        try await bench.git(["branch", "-m", "main", target.head], in: path)
        if !target.isRemote { try await bench.git(["remote", "remove", "origin"], in: path) }
        if target.isOld { try await bench.git(["branch", target.other], in: path) }
        return (path, target.isRemote ? "file://\(path)" : path)
    }

    private static func look(_ location: String, _ bench: Bench, _ options: [String] = []) async throws -> Ended {
        try await bench.command(
            bench.sharing([Bench.pipectl, "watch", "--once", "--minimum-free", "0"] + options + [location]))
    }

    /// Adds a commit to a branch, or to a new branch at `parent`.
    private static func push(
        _ branch: String, on parent: String, _ bench: Bench, in path: String
    ) async throws {
        let tree = try await bench.git(["rev-parse", "\(parent)^{tree}"], in: path)
        let commit = try await bench.git(
            ["commit-tree", "-p", parent, "-m", "On \(branch) \(UInt32.random(in: 0 ... .max))", tree], in: path)
        try await bench.git(["update-ref", "refs/heads/\(branch)", commit], in: path)
    }

    private static func shown(_ branch: String, _ bench: Bench) -> String? {
        let path = "\(bench.meet)/\(branch)"
        defer { try? FileManager.default.removeItem(atPath: path) }
        return try? String(contentsOfFile: path, encoding: .utf8)
    }

    @Test(.timeLimit(.minutes(10)))
    func `the repository protects a branch, never the branch's name`() async throws {
        try await Self.with { bench in
            for target in Self.targets {
                let (path, location) = try await Self.clone(target, bench)
                let first = try await Self.look(location, bench)
                #expect(first.code == 0, "\(target.testDescription): \(first.errors)")
                try await Self.push(target.other, on: target.head, bench, in: path)
                let pushed = try await Self.look(location, bench)
                #expect(pushed.code == 0, "\(target.testDescription): \(pushed.output)\(pushed.errors)")
                #expect(Self.shown(target.other, bench) == "nothing", "\(target.testDescription)")
                try await Self.push(target.head, on: target.head, bench, in: path)
                #expect(try await Self.look(location, bench).code == 0)
                #expect(Self.shown(target.head, bench) == Self.secret, "\(target.testDescription)")
            }
        }
    }

    @Test(.timeLimit(.minutes(10)))
    func `another branch is protected only by a person`() async throws {
        try await Self.with { bench in
            let target = Target(head: "master", other: "main", isRemote: true)
            let (path, location) = try await Self.clone(target, bench)
            #expect(try await Self.look(location, bench).code == 0)
            try await Self.push("main", on: "master", bench, in: path)
            try await bench.git(["symbolic-ref", "HEAD", "refs/heads/main"], in: path)
            let moved = try await Self.look(location, bench)
            #expect(Self.shown("main", bench) == "nothing", "a HEAD that changes later is not taken")
            let command = "pipectl protect main --repository \(target.folder)"
            #expect(moved.errors.contains(command), "\(moved.errors)")
            #expect(try await bench.pipectl("protect", "nosuch", "--repository", target.folder).code == 2)
            let protect = try await bench.pipectl("protect", "main", "--repository", target.folder)
            #expect(protect.code == 0, "\(protect.errors)")
            try await Self.push("main", on: "main", bench, in: path)
            let decided = try await Self.look(location, bench)
            #expect(Self.shown("main", bench) == Self.secret)
            #expect(!decided.errors.contains("pipectl protect"), "\(decided.errors)")
            // A flag applies only while it is given.
            try await Self.push("master", on: "master", bench, in: path)
            #expect(try await Self.look(location, bench, ["--target", "master"]).code == 0)
            #expect(Self.shown("master", bench) == Self.secret)
            try await Self.push("master", on: "master", bench, in: path)
            #expect(try await Self.look(location, bench).code == 0)
            #expect(Self.shown("master", bench) == "nothing")
            // A flag's branch that does not exist yet is not protected: any person who may push could create it.
            #expect(try await Self.look(location, bench, ["--target", "develop"]).code == 0)
            try await Self.push("develop", on: "master", bench, in: path)
            _ = try await Self.look(location, bench, ["--target", "develop"])
            #expect(Self.shown("develop", bench) == "nothing")
        }
    }

    @Test(.timeLimit(.minutes(10)))
    func `without a known HEAD or target no run gets secrets`() async throws {
        try await Self.with { bench in
            let (path, location) = try await Self.clone(
                Target(head: "main", other: "none", isRemote: true), bench)
            try await bench.git(["update-ref", "--no-deref", "HEAD", "main"], in: path)
            try await bench.git(["checkout", "-q", "--detach"], in: bench.root + "/repo")
            let head = try await bench.git(["rev-parse", "main"], in: path)
            try Data("\(head)\n".utf8).write(to: URL(fileURLWithPath: "\(path)/HEAD"))
            let first = try await Self.look(location, bench)
            #expect(first.errors.contains("pipectl protect main"), "\(first.errors)")
            try await Self.push("main", on: "main", bench, in: path)
            #expect(try await Self.look(location, bench).code == 0)
            #expect(Self.shown("main", bench) == "nothing")
            // Changes are still tested.
            let change = try await bench.git(
                ["commit-tree", "-p", "main", "-m", "Change", "main^{tree}"], in: path)
            try await bench.git(["update-ref", "refs/pull/1/head", change], in: path)
            let tested = try await Self.look(location, bench)
            #expect(tested.output.contains("test  passed"), "\(tested.output)\(tested.errors)")
            try await Self.push("main", on: "main", bench, in: path)
            #expect(try await Self.look(location, bench, ["--target", "main"]).code == 0)
            #expect(Self.shown("main", bench) == Self.secret)
        }
    }

    @Test(.timeLimit(.minutes(10)))
    func `the same number at two forges is two changes`() async throws {
        try await Self.with { bench in
            #expect(try await bench.look().code == 0)
            try await bench.change(1, ["b.txt": "c", ".github/x.yml": ""])
            let held = try await bench.look()
            #expect(held.code == 5, "a forge's settings are a person's: \(held.output)")
            #expect(try await bench.pipectl("approve", "1").code == 0)
            try await bench.git(["checkout", "-q", "--detach", "main"])
            try await bench.git(["rm", "-q", "ok"])
            let failing = try await bench.commit(["c.txt": ""], "Title \(String(repeating: "long ", count: 10_000))")
            try await bench.git(["checkout", "-q", "main"])
            try await bench.git(["update-ref", "refs/merge-requests/1/head", failing])
            #expect(try await bench.look().code == 1)
            let runs = try await bench.runs().filter { $0.workflow == "test" }
            #expect(runs.first { $0.change == "1" }?.verdict == .passed)
            #expect(runs.first { $0.change == "merge-requests/1" }?.verdict == .failed)
            let report = try await bench.report(try #require(runs.first { $0.verdict == .failed }).id)
            #expect((report.change?.title.utf8.count ?? 0) <= 1_024)
            let byHand = try await bench.pipectl("run", "test", "--change", "1")
            #expect(byHand.code == 2 && byHand.errors.contains("merge-requests/1"), "\(byHand.errors)")
            try await bench.withDaemon { _ in
                let both = try await bench.pipectl("wait", "#1", "--timeout", "20")
                #expect(both.code == 2, "\(both.output)\(both.errors)")
                #expect(both.errors.contains("#pull/1") && both.errors.contains("#merge-requests/1"), "\(both.errors)")
                #expect(try await bench.pipectl("wait", "#pull/1", "--timeout", "20").code == 0)
                #expect(try await bench.pipectl("wait", "#merge-requests/1", "--timeout", "20").code == 1)
            }
        }
    }

    /// Refs that can be pushed but not read: the name, the command that makes the object, and whether it is a change.
    private static let unreadable: [(ref: String, make: String)] = [
        ("refs/tags/blob", "echo x | git hash-object -w --stdin"),
        ("refs/tags/tree", "git rev-parse 'HEAD^{tree}'"),
        ("refs/tags/of-a-tree", "git rev-parse $(git tag -a -m x t$$ 'HEAD^{tree}'; echo t$$)"),
        ("refs/pull/2/head", "echo y | git hash-object -w --stdin"),
        ("refs/pull/3/head", "commit \"parent 7777777777777777777777777777777777777777\" 'Ada <a@b> 1 +0000'"),
        ("refs/pull/4/head", "commit \"parent $(git rev-parse HEAD)\" 'Ada <a@b> 99999999999999999999999999 +0000'"),
        ("refs/pull/5/head", "commit \"parent $(git rev-parse HEAD)\" 'nobody'"),
        ("refs/heads/hole", "commit \"parent 7777777777777777777777777777777777777777\" 'Ada <a@b> 2 +0000'"),
    ]

    @Test(.timeLimit(.minutes(10)))
    func `an unreadable ref is reported once and stops nothing else`() async throws {
        try await Self.with { bench in
            #expect(try await bench.look().code == 0)
            for (ref, make) in Self.unreadable {
                let script = """
                    commit() { printf 'tree %s\\n%s\\nauthor %s\\ncommitter %s\\n\\nm%s\\n' \
                    "$(git rev-parse 'HEAD^{tree}')" "$1" "$2" "$2" "$0" |
                        git hash-object -t commit -w --stdin --literally; }
                    mkdir -p ".git/$(dirname "$0")"; \(make) > ".git/$0"
                    """
                let ended = try await bench.command(["sh", "-ec", script, ref], in: bench.repository)
                #expect(ended.code == 0, "\(ref): \(ended.errors)")
            }
            let good = try await bench.change(1, ["b.txt": "c"])
            let look = try await bench.look()
            #expect(look.code == 3, "\(look.output)\(look.errors)")
            let runs = try await bench.runs().filter { $0.workflow == "test" }
            let verdicts = Dictionary(runs.map { ($0.change ?? "", $0.verdict) }) { first, _ in first }
            #expect(verdicts["1"] == .passed)
            for (ref, _) in Self.unreadable {
                #expect(
                    look.errors.split(separator: "\n").count { $0.contains("\(ref) ") } == 1, "\(ref): \(look.errors)")
                guard let number = ref.split(separator: "/").dropFirst(2).first, ref.contains("pull") else { continue }
                #expect(verdicts[String(number)] == .infrastructure, "\(ref)")
            }
            // With all of these present a merge lands, and the next observation does not report them again.
            try await bench.git(["merge", "-q", "--no-ff", "-m", "Merge", good])
            let merged = try await bench.look()
            #expect(merged.code == 0, "\(merged.output)\(merged.errors)")
            #expect(Self.shown("main", bench) == Self.secret)
            for (ref, _) in Self.unreadable { #expect(!merged.errors.contains(ref), "\(merged.errors)") }
            try await bench.withDaemon { _ in
                let byNumber = try await bench.pipectl("wait", "#4", "--timeout", "20")
                #expect(byNumber.code == 3, "\(byNumber.output)\(byNumber.errors)")
                let id = try await bench.git(["rev-parse", "refs/pull/5/head"])
                #expect(try await bench.pipectl("wait", id, "--timeout", "20").code == 3)
            }
        }
    }
}
