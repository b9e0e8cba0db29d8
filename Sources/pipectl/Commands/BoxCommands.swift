import StateFiles
import Control
import ArgumentParser
import Results
import TerminalText
import BuildBox
import Foundation

struct Notify: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "notify", abstract: "Tells the daemon to check repositories now; for a post-receive hook.",
        discussion: "In a hook: pipectl notify . >/dev/null 2>&1 || true")

    @OptionGroup var state: StateOptions
    @Argument(help: "The repository's path, URL or name. Default: all repositories.")
    var repository: String?

    func run() async throws {
        let path = try state.folder().socket
        let client = try await DaemonClient<DaemonRequest, DaemonReply>.connect(path: path)
        // A path means a folder here, not below the daemon's.
        let isPath = repository.map { $0.hasPrefix(".") || FileManager.default.fileExists(atPath: $0) } ?? false
        let named = isPath ? repository.map { URL(fileURLWithPath: $0).standardizedFileURL.path } : repository
        try await DaemonAccess.daemon(client).ask(.look(path: named)) { reply in
            if case .completed(let action) = reply { Terminal.say(action.inWords) }
        }
    }
}

struct Status: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status", abstract: "Shows watched repositories, and running, waiting and queued runs.")

    @OptionGroup var state: StateOptions
    @Flag(help: "Also list repositories that are not watched: folders where runs were started by hand.")
    var all = false
    @Flag(help: "Print JSON.")
    var json = false

    func run() async throws {
        let path = try state.folder().socket
        let client = try await DaemonClient<DaemonRequest, DaemonReply>.connect(path: path)
        guard case .status(let status) = try await client.ask(.status) else {
            throw CommandEnd(code: 3, message: "the daemon did not report its status")
        }
        if json { return try JSONOutput.print(status) }
        Terminal.print(
            "pipectl \(status.version), process \(status.processID), \(status.slots) slots, state in \(status.state)")
        for repository in status.repositories where all || repository.isWatched {
            let target = repository.target.map { "  into \(TerminalText.name($0))" } ?? ""
            let changes = repository.changes.sorted { $0.key < $1.key }.map { state, count in
                "\(count) \(state)" + (state == "stale" ? " (tested with an older target)" : "")
            }.joined(separator: ", ")
            Terminal.print(
                "  \(repository.name)  \(repository.location)\(repository.isWatched ? "" : "  (not watched)")\(target)\(changes.isEmpty ? "" : "  changes: \(changes)")"
            )
            if let advice = repository.advice {
                Terminal.print("    decide: \(TerminalText.name(advice, limit: 1_000))")
            }
        }
        for run in status.running {
            let done = run.steps.count { $0.record.status.isFinal }
            let isRunning = run.steps.isEmpty || run.steps.contains { $0.record.status == .running }
            let elapsed = Duration.seconds(Date().timeIntervalSince(run.startedAt).rounded()).inWords
            Terminal.print(
                "\(isRunning ? "running" : "waiting")  \(run.id)  \(run.workflow)  \(TerminalText.name(run.subject))  \(done) of \(run.steps.count) steps, \(elapsed)"
            )
        }
        for run in status.running {
            for step in run.steps where step.awaitsApproval {
                Terminal.print(
                    "waits    \(run.id)  \(run.workflow)  \(TerminalText.name("\"\(step.record.name)\" needs approval: \(Approval.command(run.id, step: step.record.name))", limit: 400))"
                )
            }
        }
        for run in status.held {
            let subject = TerminalText.name(run.change.map { "change \($0)" } ?? RunTable.subject(run))
            Terminal.print(
                "waits    \(run.id)  \(run.workflow)  \(subject) needs approval: \(Approval.command(run.id))")
            Terminal.print("         \(TerminalText.name(run.heldFor ?? "", limit: 400))")
        }
        for run in status.queued {
            Terminal.print(
                "queued   \(run.id)  \(run.workflow)  \(TerminalText.name(RunTable.subject(run)))"
            )
        }
        if status.running.isEmpty && status.queued.isEmpty && status.held.isEmpty { Terminal.print("idle") }
        if let obstacle = status.obstacle { Terminal.print("nothing starts: \(obstacle)") }
    }
}

struct Cancel: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "cancel", abstract: "Cancels a queued or running run.")

    @OptionGroup var state: StateOptions
    @Argument(help: RunArgument.help)
    var run: RunArgument
    @Option(help: "The reason, shown in the report.")
    var reason = "cancelled by hand"

    mutating func run() async throws {
        try await state.resolve(&run)
        Terminal.say(
            try await state.ask(.cancel(run.id, reason: reason), "cancel") {
                if case .completed(let action) = $0 { action.inWords } else { nil }
            })
    }
}

struct Rerun: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rerun", abstract: "Repeats a finished run as a new run of the same commit and definition.")

    @OptionGroup var state: StateOptions
    @OptionGroup(title: HelpText.daemon) var box: BoxOptionGroup
    @Argument(help: RunArgument.help)
    var run: RunArgument
    @Flag(help: "Repeat only steps that did not pass, in the run's retained workspace.")
    var failed = false
    @Option(name: .customLong("step"), help: "Run only this step and the steps it needs; may be repeated.")
    var steps: [String] = []
    @Flag(
        inversion: .prefixedNo,
        help: "Skip steps that are proved by an earlier run with the same inputs. Default: run all.")
    var proofs = false
    @Flag(help: "Start from a fresh workspace instead of a warm one.")
    var clean = false
    @Flag(help: "Print the new run's number and return at once; needs a daemon.")
    var detach = false
    @Flag(help: "Print the report as JSON.")
    var json = false

    mutating func run() async throws {
        try await state.resolve(&run)
        let folder = try state.folder()
        let access = try await DaemonAccess.open(
            folder, purpose: "rerun \(run)", options: box.options(in: folder), log: Log.quiet)
        do {
            try await DaemonSettings.check(box.given, access)
            if case .own = access, detach {
                throw CommandEnd(
                    code: 2, message: "--detach needs a running daemon: start `pipectl watch`, or leave it out")
            }
            let accepted = RunNumber()
            var request = RerunRequest(run: run.id)
            (request.failedOnly, request.steps) = (failed, steps)
            (request.usesProofs, request.isClean) = (proofs, clean)
            try await access.ask(.rerun(request)) { reply in
                if case .accepted(let id, _) = reply { await accepted.set(id) }
            }
            guard let id = await accepted.id else {
                throw CommandEnd(code: 3, message: "the daemon did not accept the run")
            }
            if detach { return Terminal.print("\(id)") }
            let following = Following(access: access, state: folder)
            try await following.conclude(id, following.follow(id), json: json)
        } catch {
            await access.close()
            throw error
        }
    }
}
