import ArgumentParser
import BuildBox
import Client
import Engine
import Foundation
import Logging
import Results
import ServiceLifecycle
import StateFiles
import TerminalText
import TestReports
import UnixSignals

struct Watch: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch", abstract: "Watches repositories: tests every change, releases on merge.",
        discussion: """
            The first look at a repository starts no runs. SIGTERM or Ctrl-C lets running runs end and then stops; a \
            second one cancels them; a third ends at once. SIGHUP checks the repositories at once.
            """)

    @OptionGroup var state: StateOptions
    @OptionGroup(title: HelpText.daemon) var box: BoxOptionGroup
    @Argument(help: "Paths or URLs of repositories.")
    var repositories: [String]
    @Option(
        help: ArgumentHelp(
            "Seconds between looks at a repository. Default: 30; 180 for a local repository whose file events are complete.",
            valueName: "seconds"))
    var interval: Double?
    @Option(
        name: .customLong("changes"),
        help: ArgumentHelp("Branches that count as changes, as a glob like 'agent/*'.", valueName: "glob"))
    var changes: [String] = []
    @Option(
        help: """
            The target branch, whose commits count as merged. Default: what the repository's HEAD named \
            at the first look, or what `pipectl protect` has set since.
            """)
    var target: String?
    @Option(
        help: ArgumentHelp(
            "At the first look, also test changes pushed since then: 2d, 6h, or 2026-01-31.", valueName: "when")
    )
    var since: String?
    @Option(help: ArgumentHelp("How many seconds a fetch may take.", valueName: "seconds"))
    var fetchDeadline = 300.0
    @Option(
        help: ArgumentHelp(
            "How long a failed run's workspace is retained for `rerun --failed` and `open`: 24h, 90m, 2d; 0h for not at all.",
            valueName: "time"))
    var keepFailed = "24h"
    @Option(help: ArgumentHelp("Disk space for all retained workspaces together, in GiB.", valueName: "GiB"))
    var keepFailedLimit = 10
    @Flag(help: "Look once, run what is due, and exit with the worst verdict.")
    var once = false
    @Flag(help: "Also write a summary of each run to refs/notes/pipectl of the watched repository.")
    var notes = false
    @Flag(
        inversion: .prefixedNo, help: "Skip steps that are proved by an earlier run with the same inputs, or run all.")
    var proofs = true
    @Option(
        help: ArgumentHelp(
            "The share of proved steps that is run anyway, to find wrong proofs: 0 to 1.",
            valueName: "rate"))
    var proofSampling = 0.02
    @Flag(
        inversion: .prefixedNo,
        help:
            "Use idle time to keep warm workspaces of target branches, and to test these branches in fresh ones."
    )
    var refresh = true
    @Option(
        help: ArgumentHelp(
            "Hours after which a branch that passes in a warm workspace is tested in a fresh one.", valueName: "hours"))
    var cleanRoom = 24.0
    @OptionGroup(title: "Notifications") var notify: NotifyOptionGroup
    @Flag(help: "Write more to the log.")
    var verbose = false

    func validate() throws {
        if repositories.isEmpty { throw ValidationError("name at least one repository") }
        if let interval, !(interval >= 0.1 && interval <= 86_400) {
            throw ValidationError("--interval takes 0.1 to 86400 seconds")
        }
        if !(cleanRoom >= 0.0001 && cleanRoom <= 100_000) {
            throw ValidationError("--clean-room takes 0.0001 to 100000 hours")
        }
        if !(fetchDeadline >= 1 && fetchDeadline <= 86_400) {
            throw ValidationError("--fetch-deadline takes 1 to 86400 seconds")
        }
        _ = try PastTime.duration(keepFailed)
        if !(0...1_000_000).contains(keepFailedLimit) {
            throw ValidationError("--keep-failed-limit takes 0 to 1000000 GiB")
        }
        if !(proofSampling >= 0 && proofSampling <= 1) { throw ValidationError("--proof-sampling takes 0 to 1") }
    }

    func run() async throws {
        var options = try box.options()
        options.writesNotes = notes
        (options.usesProofs, options.proofSampling) = (proofs, proofSampling)
        options.refreshesBases = refresh
        options.keepFailed = try PastTime.duration(keepFailed)
        options.keptBytes = keepFailedLimit << 30
        options.cleanRoomInterval = .seconds(cleanRoom * 3_600)
        options.notify = notify.options()
        var watching = WatchOptions()
        watching.interval = interval.map { .seconds($0) }
        watching.changePatterns = changes
        watching.target = target
        watching.since = try since.map { try PastTime.read($0) }
        watching.fetchDeadline = .seconds(fetchDeadline)
        let logger = Log.daemon(verbose ? .debug : .info)
        let shutdown = ShutdownNotice {
            logger.notice("the steps got the signal, too: their runs start again at the next start")
            Foundation.exit(0)
        }
        if !once {
            ShutdownNotice.heedScope()
            options.shutdown = shutdown
        }
        let folder = try state.folder()
        let opened = options
        let box = try await StateTurn(folder: folder, say: Terminal.say).take {
            try await Box(
                state: folder, purpose: once ? "watch --once" : StateTurn.daemon, options: opened, log: logger)
        }
        do {
            try await box.prepareToWatch(repositories, options: watching)
            if once { try await lookOnce(box, folder) } else { try await serve(box, shutdown, logger) }
        } catch {
            await box.close()
            throw error
        }
        await box.close()
    }

    private func lookOnce(_ box: Box, _ folder: StateFolder) async throws {
        let look = try await box.lookOnce()
        let reports = look.reports
        for report in reports.sorted(by: { $0.id < $1.id }) {
            Terminal.print(
                "run \(report.id)  \(report.workflow)  \(report.verdict.title)  \(TerminalText.name(report.reason))")
        }
        if let first = look.waiting.first {
            let others =
                look.waiting.count > 1 ? " and \(Count.text(look.waiting.count - 1, "more run")) waiting" : " waits"
            Terminal.say("run \(first)\(others)" + (look.obstacle.map { ": \($0)" } ?? ""))
        } else if reports.isEmpty {
            Terminal.say("nothing to run")
        }
        guard let worst = reports.map(\.verdict).max(by: { $0.severity < $1.severity }), worst.exitCode != 0 else {
            if look.waiting.isEmpty { return }
            throw CommandEnd(code: 8, message: "runs are waiting; start `pipectl watch` to run them")
        }
        let first = reports.first { $0.verdict == worst }
        throw CommandEnd(code: worst.exitCode, message: first.map { "\(worst.title): see `pipectl report \($0.id)`" })
    }

    private func serve(_ box: Box, _ shutdown: ShutdownNotice, _ logger: Logger) async throws {
        let service = BoxService(box: box, log: logger)
        let signals = SignalService(box: box, shutdown: shutdown, log: logger)
        let group = ServiceGroup(
            configuration: ServiceGroupConfiguration(
                services: [
                    .init(service: service, successTerminationBehavior: .gracefullyShutdownGroup),
                    .init(service: signals, successTerminationBehavior: .ignore),
                ],
                logger: logger))
        try await group.run()
    }
}

/// The daemon as a service: ends when it has drained.
struct BoxService: Service {
    let box: Box
    let log: Logger

    func run() async throws {
        try await withThrowingTaskGroup(of: Bool.self) { group in
            group.addTask {
                try await box.serve { log.notice("pipectl \(Version.text) is watching; `pipectl status` asks it") }
                return true
            }
            group.addTask {
                // Throws when the daemon has ended by itself.
                do { try await gracefulShutdown() } catch { return false }
                await box.drain()
                return false
            }
            while let hasEnded = try await group.next(), !hasEnded {}
            group.cancelAll()
        }
    }
}

/// SIGTERM and SIGINT: drain, then cancel, then end; SIGHUP: look; the stop of the box's scope: drain.
struct SignalService: Service {
    let box: Box
    let shutdown: ShutdownNotice
    let log: Logger

    func run() async throws {
        var count = 0
        let signals = await UnixSignalsSequence(trapping: .sigterm, .sigint, .sighup, .sigusr2)
        for await signal in signals.cancelOnGracefulShutdown() {
            if signal == .sighup {
                await box.lookAtAll()
                continue
            }
            shutdown.tell()
            // The machine stops the scope, and may send SIGTERM beside it: only what people repeat cancels runs.
            if signal == .sigusr2 {
                await drain()
                continue
            }
            count += 1
            switch count {
            case 1: await drain()
            case 2:
                log.notice("cancelling what runs; a third signal ends at once")
                await box.cancelAll("the daemon was shut down")
            default: Foundation.exit(130)
            }
        }
    }

    private func drain() async {
        log.notice("shutting down: running runs end first; a second signal cancels them")
        await box.drain()
    }
}

/// `2d`, `6h`, `30m` ago, or a date.
enum PastTime {
    /// `90m`, `24h`, `2d`, `1w` as seconds; nil for anything else.
    private static func seconds(_ text: String) -> Double? {
        let units: [Character: Double] = ["m": 60, "h": 3_600, "d": 86_400, "w": 604_800]
        guard let unit = text.last.flatMap({ units[$0] }), let count = Double(text.dropLast()), count >= 0,
            count * unit < 1e9
        else { return nil }
        return count * unit
    }

    static func duration(_ text: String) throws -> Duration {
        guard let seconds = seconds(text) else {
            throw ValidationError("\"\(text)\" is not a duration: write 90m, 24h, 2d or 1w")
        }
        return .seconds(seconds)
    }

    static func read(_ text: String) throws -> Date {
        if let seconds = seconds(text) { return Date(timeIntervalSinceNow: -seconds) }
        if let date = try? Date(text, strategy: .iso8601.year().month().day()) { return date }
        if let date = try? Date(text, strategy: .iso8601) { return date }
        throw ValidationError("\"\(text)\" is not a time: write 30m, 6h, 2d, 1w, or a date like 2026-01-31")
    }
}
