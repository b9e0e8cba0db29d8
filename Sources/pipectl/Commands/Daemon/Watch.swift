import Preparing
import DaemonLog
import ArgumentParser
import DaemonSettings
import Client
import CommandHelp
import Engine
import Foundation
import Logging
import ProjectSetup
import Results
import Settings
import ServiceLifecycle
import StateFiles
import TerminalText
import TestReports
import UnixSignals
import Daemon

struct Watch: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch", abstract: "Watches repositories: tests every change, releases on merge.",
        discussion: """
            The first observation of a repository starts no runs. SIGTERM or Ctrl-C lets running runs end and then stops; a \
            second one cancels them; a third exits at once. SIGHUP checks the repositories at once.

            The settings can also be in config.json; `pipectl config show` prints them with their defaults.
            """)

    @OptionGroup var state: StateOptions
    @OptionGroup(title: HelpText.daemon) var daemonOptions: DaemonOptionGroup
    @OptionGroup(title: HelpText.daemon) var daemon: WatchOptionGroup
    @Argument(help: "Paths or URLs of repositories. Default: the repositories in the settings file.")
    var repositories: [String] = []
    @Option(DeclaredSettings.changes, "glob") var changes: [GivenFlag] = []
    @Option(DeclaredSettings.target, "branch") var target: GivenFlag?
    @Option(DeclaredSettings.since, "when") var since: GivenFlag?
    @Flag(help: "Check the repositories once, run what is due, and exit with the worst verdict.")
    var once = false
    @Flag(DeclaredSettings.verbose) var verbose = false
    @Option(DeclaredSettings.logFormat, "format") var logFormat: GivenFlag?

    /// The flags on the command line.
    var given: [GivenFlag] {
        daemonOptions.given + daemon.given + changes + [target, since, logFormat].compactMap { $0 }
            + (verbose ? [GivenFlag(DeclaredSettings.verbose.setting, isOn: true)] : [])
    }

    func run() async throws {
        do { try await watch() } catch {
            ServiceNotice()?.failed((error as? CommandEnd)?.message ?? "\(error)")
            throw error
        }
    }

    private func watch() async throws {
        let folder = try state.folder()
        let settings = try DeclaredSettings.resolve(in: folder, config: daemonOptions.config, flags: given)
        let watched = try settings.watched(repositories)
        let configuration = try settings.configuration(isDaemon: true)
        var options = configuration.options
        let logger = Log.daemon(configuration.isVerbose ? .debug : .info, configuration.logFormat)
        let shutdown = ShutdownNotice {
            logger.notice(
                "the steps received the signal as well: their runs start again when the daemon starts",
                metadata: .code(.stoppedWithSteps))
            Foundation.exit(0)
        }
        if !once {
            ShutdownNotice.heedScope()
            options.shutdown = shutdown
        }
        let opened = options
        let daemon = try await StateTurn(
            folder: folder,
            say: {
                logger.notice("\($0)", metadata: .code(.waitingForState))
                ServiceNotice()?.waits($0)
            }
        ).take {
            try await Daemon(
                state: folder, purpose: once ? "watch --once" : StateTurn.daemon, options: opened, log: logger)
        }
        do {
            try await daemon.prepareToWatch(watched)
            if once { try await lookOnce(daemon, folder) } else { try await serve(daemon, shutdown, logger) }
        } catch {
            await daemon.close()
            throw error
        }
        await daemon.close()
    }

    private func lookOnce(_ daemon: Daemon, _ folder: StateFolder) async throws {
        let look = try await daemon.lookOnce()
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

    private func serve(_ daemon: Daemon, _ shutdown: ShutdownNotice, _ logger: Logger) async throws {
        let service = DaemonService(daemon: daemon, log: logger)
        let signals = SignalService(daemon: daemon, shutdown: shutdown, log: logger)
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

/// The daemon as a service, which ends when all runs have ended.
struct DaemonService: Service {
    let daemon: Daemon
    let log: Logger

    func run() async throws {
        try await daemon.serve {
            ServiceNotice()?.ready()
            log.notice("pipectl \(Version.text) is watching; `pipectl status` asks it", metadata: .code(.watching))
        }
    }
}

/// Handles signals. SIGTERM and SIGINT: let runs end, then cancel them, then exit; SIGHUP: check the repositories; the
/// signal of the daemon's systemd scope: let runs end.
struct SignalService: Service {
    let daemon: Daemon
    let shutdown: ShutdownNotice
    let log: Logger

    func run() async throws {
        var count = 0
        let signals = await UnixSignalsSequence(trapping: .sigterm, .sigint, .sighup, .sigusr2)
        for await signal in signals.cancelOnGracefulShutdown() {
            if signal == .sighup {
                daemon.lookAtAll()
                continue
            }
            shutdown.tell()
            // systemd stops the scope and may send SIGTERM as well. So only a signal that a person repeats cancels
            // runs.
            if signal == .sigusr2 {
                await drain()
                continue
            }
            count += 1
            switch count {
            case 1: await drain()
            case 2:
                log.notice("cancelling the runs; a third signal exits at once", metadata: .code(.cancellingRuns))
                await daemon.cancelAll("the daemon was shut down")
            default: Foundation.exit(130)
            }
        }
    }

    private func drain() async {
        log.notice(
            "shutting down after the running runs have ended; a second signal cancels them",
            metadata: .code(.shuttingDown))
        await daemon.drain()
    }
}
