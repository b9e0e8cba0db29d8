import Results
import TerminalText
import Foundation
import Git
import Sandbox

/// One process of `git merge-tree`, which merges pairs of commits in a scratch repository.
struct MergeTreeProcess: Sendable {
    let git: MergingGit
    let limits: ChangeMerger.Limits

    /// Merges the pairs in order.
    ///
    /// - Throws: ``MergeFailure`` with the merges so far if Git ended early, at a limit or with an error.
    func run(_ pairs: [MergePair], in scratch: MergeScratch) async throws -> [MergeOutcome] {
        guard git.takesMany else { return try await runSingly(pairs, in: scratch) }
        let lines = pairs.map { "\($0.target.hex) \($0.head.hex)\n" }.joined()
        let result = try await start(["--stdin"], input: lines, in: scratch)
        let outcomes = result.droppedBytes == 0 ? MergeTreeOutput(result.output).outcomes : []
        guard result.succeeded, outcomes.count == pairs.count else { throw failure(result, outcomes, scratch) }
        return outcomes
    }

    /// Git 2.38 takes a single pair as arguments.
    private func runSingly(_ pairs: [MergePair], in scratch: MergeScratch) async throws -> [MergeOutcome] {
        var outcomes: [MergeOutcome] = []
        for pair in pairs {
            let result = try await start(["-z", pair.target.hex, pair.head.hex], input: "", in: scratch)
            guard [.exited(0), .exited(1)].contains(result.ending), result.droppedBytes == 0,
                let outcome = MergeTreeOutput(single: result.output, isClean: result.succeeded).outcomes.first
            else { throw failure(result, outcomes, scratch) }
            outcomes.append(outcome)
        }
        return outcomes
    }

    /// The shell sets the limits, opens the files and becomes Git. Its text is constant: all values are arguments.
    private static let script = """
        ulimit -c 0; ulimit -t "$1" 2>/dev/null || :; ulimit -d "$2" 2>/dev/null || :; ulimit -f "$3" 2>/dev/null || :
        input=$4 errors=$5; shift 5; exec "$@" <"$input" 2>"$errors"
        """

    private func start(_ words: [String], input: String, in scratch: MergeScratch) async throws -> ExternalCommandResult
    {
        let (inputFile, errorFile) = ("\(scratch.path)/input", "\(scratch.path)/errors")
        try Data(input.utf8).write(to: URL(fileURLWithPath: inputFile))
        let seconds = Int(limits.deadline.components.seconds) + 1
        return try await ExternalCommand(
            "/bin/sh",
            [
                // ulimit takes memory in KiB and file sizes in blocks of 512 bytes.
                "-c", Self.script, "sh", "\(seconds)", "\(limits.memoryBytes >> 10)", "\(limits.fileBytes >> 9)",
                inputFile, errorFile, git.path,
            ] + Self.settings.flatMap { ["-c", $0] } + ["merge-tree", "--write-tree"] + words,
            in: scratch.path, environment: Self.environment(gitDirectory: scratch.path), deadline: limits.deadline,
            grace: .milliseconds(200), outputLimit: limits.outputBytes
        ).run()
    }

    /// Git's defaults, set explicitly, and no attributes from commits, which a later Git might read: attributes could
    /// choose other merge drivers, which no forge uses either.
    private static let settings = [
        "core.attributesFile=/dev/null", "attr.tree=4b825dc642cb6eb9a060e54bf8d69288fbee4904", "core.fsync=none",
        "core.hooksPath=/dev/null", "core.fsmonitor=false", "core.useReplaceRefs=false", "merge.renames=true",
        "merge.directoryRenames=conflict", "merge.renormalize=false", "gc.auto=0", "protocol.allow=never",
    ]

    /// The whole environment of Git: no settings of the user or the system, and no other repository.
    private static func environment(gitDirectory: String) -> [String: String] {
        [
            "PATH": ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin", "HOME": gitDirectory,
            "TMPDIR": gitDirectory, "LC_ALL": "C", "GIT_DIR": gitDirectory, "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_SYSTEM": "/dev/null", "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_ATTR_NOSYSTEM": "1",
            "GIT_NO_REPLACE_OBJECTS": "1", "GIT_NO_LAZY_FETCH": "1", "GIT_OPTIONAL_LOCKS": "0",
            "GIT_TERMINAL_PROMPT": "0",
        ]
    }

    private func failure(_ result: ExternalCommandResult, _ outcomes: [MergeOutcome], _ scratch: MergeScratch)
        -> MergeFailure
    {
        if result.droppedBytes > 0 {
            return MergeFailure(
                reason: "it has more conflicts than can be listed", outcomes: outcomes, losesAnswers: true)
        }
        let said = try? String(contentsOfFile: "\(scratch.path)/errors", encoding: .utf8)
        let line =
            (said ?? "").split(separator: "\n").last.map { ": \(TerminalText.name(String($0), limit: 300))" } ?? ""
        let reason =
            switch result.ending {
            case .deadline(let deadline): "git merge-tree took longer than \(deadline.inWords)"
            case .signal(let signal): "git merge-tree was ended by signal \(signal)\(line)"
            case .exited(let code): "git merge-tree ended with \(code)\(line)"
            }
        // With `--stdin` Git buffers its answers. An exit prints the buffer; a signal does not.
        let losesAnswers = if case .exited = result.ending { false } else { true }
        return MergeFailure(reason: reason, outcomes: outcomes, losesAnswers: losesAnswers)
    }
}
