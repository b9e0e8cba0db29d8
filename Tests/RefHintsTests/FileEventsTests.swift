import TestBasics
import TestSupport
import Foundation
import Synchronization
import Testing

@testable import RefHints

extension RefHint {
    /// Whether every later change gives a hint, according to the kernel.
    fileprivate var isComplete: Bool { limit == nil && cause != .gone }
}

/// Collects hints and returns them with a time limit.
private final class HintLog: Sendable {
    private struct State {
        var hints: [RefHint] = []
        var hasEnded = false
        var waiter: (id: Int, continuation: CheckedContinuation<RefHint?, Never>)?
        var calls = 0
    }

    private let state = Mutex(State())

    func add(_ hint: RefHint) {
        let waiter = state.withLock { state in
            if state.waiter == nil { state.hints.append(hint) }
            return state.waiter.take()
        }
        waiter?.continuation.resume(returning: hint)
    }

    func end() {
        let waiter = state.withLock { state in
            state.hasEnded = true
            return state.waiter.take()
        }
        waiter?.continuation.resume(returning: nil)
    }

    var hasEnded: Bool { state.withLock { $0.hasEnded } }

    /// The next hint; `nil` if none comes within `limit` or the stream has ended.
    func next(within limit: Duration = .seconds(30)) async -> RefHint? {
        let id = state.withLock { state in
            state.calls += 1
            return state.calls
        }
        return await withTaskGroup(of: RefHint?.self) { group in
            group.addTask {
                await withCheckedContinuation { continuation in
                    let now: RefHint?? = self.state.withLock { state in
                        if !state.hints.isEmpty { return .some(state.hints.removeFirst()) }
                        if state.hasEnded { return .some(nil) }
                        state.waiter = (id, continuation)
                        return nil
                    }
                    if let now { continuation.resume(returning: now) }
                }
            }
            group.addTask {
                try? await Task.sleep(for: limit)
                let waiter = self.state.withLock { state in
                    state.waiter?.id == id ? state.waiter.take() : nil
                }
                waiter?.continuation.resume(returning: nil)
                return nil
            }
            defer { group.cancelAll() }
            return await group.next() ?? nil
        }
    }

    /// Collects hints that are still on their way after a change.
    func settle() async {
        while await next(within: .milliseconds(100)) != nil {}
    }
}

/// Listens to `paths` while `body` runs.
private func withHints(
    _ paths: String..., maximumWatches: Int = 65_536, _ body: (HintLog) async throws -> Void
) async throws {
    let stream = try await FileEvents.refChanges(inGitDirectories: paths, maximumWatches: maximumWatches)
    let log = HintLog()
    try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask {
            for await hint in stream { log.add(hint) }
            log.end()
        }
        defer { group.cancelAll() }
        try await body(log)
    }
}

/// A bare repository with one commit on `main`, and a way to run Git in it.
private struct BareRepository {
    let path: String

    init(in folder: String, named name: String = "box.git") async throws {
        path = folder + "/" + name
        try await runCommand("git", "init", "-q", "--bare", "-b", "main", path)
        try await git("config", "user.name", "t")
        try await git("config", "user.email", "t@example.com")
        // 4b825dc… is the empty tree, which Git knows without being told.
        try await sh("git update-ref refs/heads/main $(git commit-tree -m x 4b825dc642cb6eb9a060e54bf8d69288fbee4904)")
    }

    func git(_ arguments: String...) async throws { try await sh("git \(arguments.joined(separator: " "))") }

    /// Runs a line of shell in the repository.
    func sh(_ line: String) async throws { try await runCommand("sh", "-ec", "cd '\(path)'; \(line)") }
}

@Suite("File events", .serialized) struct FileEventsTests {
    /// The state before, and a change that must wake the watcher.
    struct Change: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var before = "true"
        var action: String

        init(_ name: String, before: String = "true", _ action: String) {
            testDescription = name
            self.before = before
            self.action = action
        }
    }

    /// Moves a ref to a new commit, whose message is the shell's pid.
    private static let another = "git update-ref %s $(git commit-tree -m $$ -p main main^{tree})"
    private static func update(_ ref: String) -> String { another.replacingOccurrences(of: "%s", with: ref) }

    static let changes = [
        Change("update-ref of a branch", update("refs/heads/main")),
        Change(
            "push to a branch", before: "git clone -q . ../work",
            "cd ../work && git -c user.name=t -c user.email=t@t commit -q --allow-empty -m z && git push -q"),
        Change(
            "push of a nested branch", before: "git clone -q . ../work", "cd ../work && git push -q origin main:a/b/c"),
        Change("new nested branch", "git branch feature/x/y main"),
        Change("update below a folder", before: "git branch feature/x/y main", update("refs/heads/feature/x/y")),
        Change("delete a loose branch", before: "git branch old main", "git branch -D old"),
        Change("pack-refs", "git pack-refs --all"),
        Change("delete a packed branch", before: "git branch old main; git pack-refs --all", "git branch -D old"),
        Change("update a packed branch", before: "git pack-refs --all", update("refs/heads/main")),
        Change("tag", "git tag v1 main"),
        Change("annotated tag", "git tag -a -m v v2 main"),
        Change("first pull request", "git update-ref refs/pull/7/head main"),
        Change("pull request update", before: "git update-ref refs/pull/7/head main", update("refs/pull/7/head")),
        Change("merge request", "git update-ref refs/merge-requests/3/head main"),
        Change(
            "fetch into a mirror", before: "git clone -q --mirror . ../from; " + update("refs/heads/main"),
            "git fetch -q ../from '+refs/heads/*:refs/remotes/o/*'"),
        Change("default branch", before: "git branch next main", "git symbolic-ref HEAD refs/heads/next"),
        Change("written in place", "git rev-parse main > refs/heads/direct"),
        Change("folder deleted", before: "git branch a/b main", "rm -r refs/heads/a"),
        Change("refs replaced", "cp -r refs refs2; rm -r refs; mv refs2 refs"),
    ]

    @Test(.timeLimit(.minutes(5)), arguments: changes)
    func `a change wakes the listener`(_ change: Change) async throws {
        try await withTemporaryFolder { folder in
            let repository = try await BareRepository(in: folder)
            try await repository.sh(change.before)
            try await withHints(repository.path) { log in
                try await repository.sh(change.action)
                #expect(await log.next() == RefHint(gitDirectory: repository.path, cause: .changed))
            }
        }
    }

    @Test(.timeLimit(.minutes(5))) func `folders that are made later are watched too`() async throws {
        try await withTemporaryFolder { folder in
            let repository = try await BareRepository(in: folder)
            try await withHints(repository.path) { log in
                for step in [
                    "git branch feature/x/y main", Self.update("refs/heads/feature/x/y"),
                    "git update-ref refs/pull/7/head main", Self.update("refs/pull/7/head"),
                    "git branch -D feature/x/y", "git branch feature/x/y main", Self.update("refs/heads/feature/x/y"),
                    "rm -r refs/heads/feature", "mkdir -p refs/heads/feature/x && git branch feature/x/z main",
                    "cp -r refs refs2; rm -r refs; mv refs2 refs", Self.update("refs/heads/feature/x/z"),
                    "rm -rf refs/pull && git update-ref refs/pull/7/head main", Self.update("refs/pull/7/head"),
                ] {
                    try await repository.sh(step)
                    #expect(await log.next()?.isComplete == true, "\(step)")
                    await log.settle()
                }
            }
        }
    }

    @Test(.timeLimit(.minutes(5))) func `a write that changes no ref gives no hint`() async throws {
        try await withTemporaryFolder { folder in
            let repository = try await BareRepository(in: folder)
            try await repository.sh("git clone -q . ../work")
            let work = folder + "/work"
            try await withHints(repository.path, work) { log in
                try await repository.sh(
                    "git log -1; git for-each-ref; echo x | git hash-object -w --stdin; git gc -q --auto")
                // Git does this before it writes a ref; other tests cover the rest.
                try await repository.sh("mkdir -p refs/heads/empty/deep refs/pull/9; touch refs/pull/9/head.lock")
                try await runCommand("sh", "-ec", "cd '\(work)'; echo x > f; git add f; git status; git diff --cached")
                try await runCommand("sh", "-ec", "cd '\(work)'; git config a.b c; git stash list; git fetch -q")
                #expect(await log.next(within: .milliseconds(300)) == nil)
                #expect(!log.hasEnded)
                try await repository.sh(Self.update("refs/heads/main"))
                #expect(await log.next()?.gitDirectory == repository.path)
            }
        }
    }

    @Test(.timeLimit(.minutes(5))) func `a burst gives few hints`() async throws {
        try await withTemporaryFolder { folder in
            let repository = try await BareRepository(in: folder)
            try await withHints(repository.path) { log in
                try await repository.sh(
                    "id=$(git rev-parse main); seq -f \"create refs/heads/b%g $id\" 500 > ../refs")
                try await repository.sh("git update-ref --stdin < ../refs")
                #expect(await log.next() != nil)
                var count = 1
                while await log.next(within: .milliseconds(200)) != nil { count += 1 }
                #expect(count <= 100)
            }
        }
    }

    @Test(.timeLimit(.minutes(5))) func `linked worktrees watch the common folder`() async throws {
        try await withTemporaryFolder { folder in
            let repository = try await BareRepository(in: folder)
            try await repository.sh("git worktree add -q -b linked ../linked main; git clone -q . ../work")
            for path in [folder + "/linked", folder + "/work", folder + "/work/.git"] {
                try await withHints(path) { log in
                    try await runCommand(
                        "git", "-C", path.replacingOccurrences(of: "/.git", with: ""), "-c", "user.name=t", "-c",
                        "user.email=t@t", "commit", "-q", "--allow-empty", "-m", "x")
                    #expect(await log.next() == RefHint(gitDirectory: path, cause: .changed))
                }
            }
            try await withHints(folder + "/linked", repository.path) { log in
                try await repository.sh(Self.update("refs/heads/main"))
                // Slow work may give more than one hint for a folder.
                var names: Set<String> = []
                while names.count < 2, let hint = await log.next() { names.insert(hint.gitDirectory) }
                #expect(names == [folder + "/linked", repository.path])
            }
        }
    }

    @Test(.timeLimit(.minutes(5))) func `thousands of pull requests are watched`() async throws {
        try await withTemporaryFolder { folder in
            let repository = try await BareRepository(in: folder)
            try await repository.sh(
                """
                mkdir refs/pull; cd refs/pull; seq 5000 | xargs mkdir; id=$(git rev-parse main)
                for n in *; do echo $id > $n/head; done
                """)
            try await withHints(repository.path) { log in
                for ref in ["refs/pull/4321/head", "refs/pull/5001/head", "refs/pull/5001/head"] {
                    try await repository.sh(Self.update(ref))
                    #expect(await log.next() == RefHint(gitDirectory: repository.path, cause: .changed))
                    await log.settle()
                }
            }
        }
    }

    #if os(Linux)
        @Test(.timeLimit(.minutes(5))) func `without enough watches it says so and keeps the branches`() async throws {
            try await withTemporaryFolder { folder in
                let repository = try await BareRepository(in: folder)
                try await repository.sh("cd refs; mkdir pull aaa; cd pull; seq 300 | xargs mkdir")
                try await withHints(repository.path, maximumWatches: 20) { log in
                    let first = await log.next()
                    #expect(first?.cause == .limited)
                    #expect(first?.isComplete == false)
                    #expect(first?.limit?.contains("max_user_watches") == true)
                    #expect(await log.next(within: .milliseconds(100)) == nil)
                    try await repository.sh(Self.update("refs/heads/main"))
                    let second = await log.next()
                    #expect(second?.cause == .changed)
                    #expect(second?.isComplete == false)
                }
            }
        }

        @Test(.timeLimit(.minutes(5))) func `an overflow is a hint and nothing is lost`() async throws {
            try await withTemporaryFolder { folder in
                let repository = try await BareRepository(in: folder)
                let stream = try await FileEvents.refChanges(inGitDirectories: [repository.path])
                // Nobody reads meanwhile, so the kernel's queue (fs.inotify.max_queued_events) overflows.
                let heads = repository.path + "/refs/heads"
                let limit = try String(contentsOfFile: "/proc/sys/fs/inotify/max_queued_events", encoding: .utf8)
                let count = try #require(Int(limit.trimmingCharacters(in: .whitespacesAndNewlines)))
                for number in 0..<(count / 2 + 100) {
                    _ = FileManager.default.createFile(atPath: "\(heads)/f\(number)", contents: nil)
                }
                try FileManager.default.createDirectory(atPath: heads + "/late", withIntermediateDirectories: false)
                var iterator = stream.makeAsyncIterator()
                #expect(await iterator.next()?.cause == .overflow)
                try await repository.sh("git rev-parse main > refs/heads/late/branch")
                #expect(await iterator.next()?.cause == .changed)
            }
        }

        @Test(.timeLimit(.minutes(5))) func `descriptors close with the stream`() async throws {
            try await withTemporaryFolder { folder in
                let repository = try await BareRepository(in: folder)
                var status = stat()
                try #require(stat(repository.path + "/refs/heads", &status) == 0)
                let mark = "ino:\(String(status.st_ino, radix: 16)) "
                try await withHints(repository.path) { _ in #expect(descriptors(about: mark).count == 1) }
                // Dispatch closes the descriptor on a thread of its own.
                while !descriptors(about: mark).isEmpty { await Task.yield() }
            }
        }
    #endif

    @Test(.timeLimit(.minutes(5))) func `a removed repository is reported and the stream ends`() async throws {
        try await withTemporaryFolder { folder in
            let (one, two) = (
                try await BareRepository(in: folder, named: "one.git"),
                try await BareRepository(in: folder, named: "two.git")
            )
            try await withHints(one.path, two.path) { log in
                try await runCommand("rm", "-rf", one.path)
                var hint = await log.next()
                while hint?.cause == .changed { hint = await log.next() }
                #expect(hint == RefHint(gitDirectory: one.path, cause: .gone))
                #expect(hint?.isComplete == false)
                try await two.sh(Self.update("refs/heads/main"))
                #expect(await log.next() == RefHint(gitDirectory: two.path, cause: .changed))
                #expect(!log.hasEnded)
                await log.settle()
                try await runCommand("mv", two.path, folder + "/moved.git")
                #expect(await log.next() == RefHint(gitDirectory: two.path, cause: .gone))
                #expect(await log.next() == nil)
                #expect(log.hasEnded)
            }
        }
    }

    @Test(.timeLimit(.minutes(5))) func `a replaced repository is still watched`() async throws {
        try await withTemporaryFolder { folder in
            let repository = try await BareRepository(in: folder)
            let stream = try await FileEvents.refChanges(inGitDirectories: [repository.path])
            try await runCommand("cp", "-r", repository.path, folder + "/copy.git")
            try await runCommand("rm", "-rf", repository.path)
            try await runCommand("mv", folder + "/copy.git", repository.path)
            var iterator = stream.makeAsyncIterator()
            #expect(await iterator.next() == RefHint(gitDirectory: repository.path, cause: .changed))
            try await repository.sh(Self.update("refs/heads/main"))
            #expect(await iterator.next() == RefHint(gitDirectory: repository.path, cause: .changed))
        }
    }

    @Test(.timeLimit(.minutes(5))) func `a folder that is not a repository is refused`() async throws {
        try await withTemporaryFolder { folder in
            for path in [folder, folder + "/none"] {
                let error = await #expect(throws: FileEventsError.self) {
                    _ = try await FileEvents.refChanges(inGitDirectories: [path])
                }
                #expect(error?.code == .notARepository)
            }
        }
    }
}
