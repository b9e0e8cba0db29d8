import Archive
import ArgumentParser
import Client
import CommandHelp
import Control
import Foundation
import Reports
import Results
import StateFiles
import TerminalText

struct FixCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "fix",
        abstract:
            "Runs the workflow's fixer on a failed run of a change, or shows earlier fix attempts.",
        discussion: """
            Without an option it starts a new series of attempts and waits for the end. Exit code 0: a fix passed; 1: \
            none passed; 4: the series was stopped; 5: the fix needs approval. While a daemon runs, Ctrl-C ends only the \
            waiting.
            """)

    @OptionGroup var state: StateOptions
    @OptionGroup(title: HelpText.daemon) var daemonOptions: DaemonOptionGroup
    @Argument(help: RunArgument.help) var run: RunArgument
    @Flag(help: "Show the attempts so far; start nothing.") var show = false
    @Flag(help: "Print the fix as a patch for `git am`; start nothing.") var patch = false
    @Option(help: "With --patch: the attempt's number. Default: the one that passed.") var attempt: Int?
    @Flag(help: "Print the attempts as JSON.") var json = false

    func validate() throws {
        if show && patch { throw ValidationError("--show and --patch exclude each other") }
        if attempt != nil && !patch { throw ValidationError("--attempt goes with --patch") }
    }

    mutating func run() async throws {
        try await state.resolve(&run)
        if patch { return try await printPatch() }
        if show { return try display(try await known()) }
        let access = try await daemonOptions.open(state.folder(), "fix")
        do {
            try await IdleFlags.check(daemonOptions.given, access)
            let series = try await begin(access)
            await access.close()
            guard let series else { throw CommandEnd(code: 3, message: "the fix ended without an answer") }
            try display(series)
            let code: Int32 =
                switch series.state {
                case _ where series.state.isOffer: 0
                case .needsApproval: 5
                case .stopped: 4
                default: 1
                }
            if code != 0 { throw CommandEnd(code: code, message: nil) }
        } catch {
            await access.close()
            throw error
        }
    }

    private func begin(_ access: DaemonAccess) async throws -> FixSeries? {
        let last = LastFix()
        @Sendable func ask() async throws {
            try await access.ask(.fix(run.id)) { reply in
                guard case .fix(let progress) = reply else { return }
                switch progress {
                case .note(let text): Terminal.say(TerminalText.name(text, limit: 1_000))
                case .ended(let series): await last.set(series)
                }
            }
        }
        guard case .own(let daemon) = access else {
            try await ask()
            return await last.series
        }
        // This command must not start runs that an earlier daemon left waiting.
        await daemon.startOnly([])
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await daemon.serve() }
            defer { group.cancelAll() }
            do {
                try await ask()
            } catch {
                // Let it end normally: a cancelled start would be reported as an error.
                await daemon.drain()
                try? await group.waitForAll()
                throw error
            }
            await daemon.drain()
            try await group.waitForAll()
        }
        return await last.series
    }

    private func known() async throws -> FixSeries {
        guard let series = try await ReportLoader(state.folder()).store.report(run.id).fixes else {
            throw CommandEnd(
                code: 2,
                message:
                    "run \(run) has no fix attempts; `pipectl fix \(run)` starts one if the workflow declares a fixer"
            )
        }
        return series
    }

    private func printPatch() async throws {
        let series = try await known()
        let wanted = attempt.map { number in series.attempts.first { $0.number == number } } ?? series.chosen
        guard let wanted else {
            throw CommandEnd(
                code: 2,
                message:
                    "run \(run) has no fix that passed (\(series.state.title)); --attempt N prints the patch of an attempt"
            )
        }
        let store = try ArchiveStore(home: state.folder().path)
        guard let digest = wanted.patch, let path = store.artifact(digest),
            let bytes = FileManager.default.contents(atPath: path)
        else {
            throw CommandEnd(code: 2, message: "attempt \(wanted.number) of run \(run) has no patch")
        }
        guard Terminal.outputIsTerminal else {
            // The raw bytes, for `git am`: a patch that was cleaned for a terminal would differ.
            try FileHandle.standardOutput.write(contentsOf: bytes)
            return
        }
        Terminal.put(TerminalText.clean(bytes, colours: false))
    }

    private func display(_ series: FixSeries) throws {
        if json { return try JSONOutput.print(series) }
        for line in FixWords.lines(series, of: run.id) { Terminal.print(line) }
    }
}

private actor LastFix {
    private(set) var series: FixSeries?
    func set(_ series: FixSeries) { self.series = series }
}
