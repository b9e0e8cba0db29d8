import Archive
import ArgumentParser
import Client
import Control
import Foundation
import Pipeline
import Reports
import Results
import StateFiles
import TerminalText

struct Logs: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "logs", abstract: "Prints the logs of a run's steps.",
        discussion: "On a terminal, control sequences other than colours are removed; a file or pipe gets every byte.")

    @OptionGroup var state: StateOptions
    @Argument(help: RunArgument.help) var run: RunArgument
    @Argument(help: "The step. Default: all steps.") var step: String?
    @Option(help: "The attempt's number. Default: the last.") var attempt: Int?
    @Flag(name: .shortAndLong, help: "Print new lines until the run has ended.") var follow = false
    @Flag(help: "Print only steps that failed.") var failed = false
    @Option(help: "Print only the last N lines.") var tail: Int?
    @Option(help: "Print only lines that match this regular expression.") var grep: String?
    @Option(
        name: [.customShort("C"), .customLong("context")],
        help: "With --grep: also print N lines before and after each match.")
    var context = 0
    @Flag(help: "Print each line's time since the start of the attempt.") var times = false

    mutating func run() async throws {
        try await state.resolve(&run)
        let folder = try state.folder()
        if let grep { _ = try pattern(grep) }
        let detail = try await detail()
        if detail.summary.isArchived { return try await printArchived(folder) }
        guard follow || detail.live != nil else {
            throw CommandEnd(
                code: 2,
                message:
                    "run \(run) is \(detail.summary.verdict?.title ?? detail.summary.state.rawValue) and has no logs"
                    + (detail.summary.state == .queued ? "; --follow waits for them" : ""))
        }
        if follow { return try await followLive(folder) }
        // Without output, the run may have ended since the first look.
        if let live = detail.live, try !printedAny(of: live), try await self.detail().summary.isArchived {
            try await printArchived(folder)
        }
    }

    private func detail() async throws -> RunDetail {
        try await state.ask(.run(run.id), "logs") { if case .run(let detail) = $0 { detail } else { nil } }
    }

    private func wanted(_ record: StepRecord) -> Bool {
        (step == nil || record.name == step) && (!failed || record.status.isFailure)
    }

    private func printArchived(_ folder: StateFolder) async throws {
        let loader = try ReportLoader(folder)
        let report = try await loader.store.report(run.id)
        let steps = report.steps.filter(wanted)
        if let step, !report.steps.contains(where: { $0.name == step }) {
            throw CommandEnd(
                code: 2,
                message:
                    "run \(run) has no step \"\(step)\"; it has \(report.steps.map(\.name).joined(separator: ", "))")
        }
        if steps.isEmpty {
            Terminal.say(
                failed ? "no step of run \(run) failed" : "run \(run) has no steps: \(TerminalText.name(report.reason))"
            )
        }
        for step in steps {
            if let proof = step.standsFor {
                Terminal.say(
                    "\"\(TerminalText.name(step.name))\" was not run: \(step.provedBy == nil ? "it passed in run \(proof.run)" : "run \(proof.run) proved it"); see pipectl logs \(proof.run) \(TerminalText.name(proof.step).shellQuoted)"
                )
            }
            let chosen = attempt.flatMap { number in step.attempts.first { $0.number == number } } ?? step.attempts.last
            guard let record = chosen?.log else { continue }
            let log = try await loader.log(run.id, record.file)
            if steps.count > 1 { Terminal.say("── \(step.name) (\(step.status.rawValue))") }
            try printLog(log)
        }
    }

    private func printedAny(of live: LiveRun) throws -> Bool {
        let logs = live.steps.filter { wanted($0.record) }.compactMap { entry in
            FileManager.default.contents(atPath: "\(live.logs)/\(logName(entry, live))").map { (entry.record, $0) }
        }
        for (record, data) in logs {
            Terminal.say("── \(record.name) (\(record.status.rawValue))")
            try printLog(ReportLog(bytes: [UInt8](data)))
        }
        return !logs.isEmpty
    }

    private func logName(_ step: LiveRun.Step, _ live: LiveRun) -> String {
        let index = (live.steps.firstIndex { $0.id == step.id } ?? 0) + 1
        return AttemptRecord.logName(step: index, attempt: attempt ?? max(step.attempt, 1))
    }

    private func printLog(_ log: ReportLog) throws {
        let plain = grep == nil && tail == nil && !times
        if plain && !Terminal.outputIsTerminal {
            FileHandle.standardOutput.write(Data(log.bytes))
            return
        }
        let expression = try grep.map { try pattern($0) }
        var offset = 0
        var lines: [(text: String, offset: Int)] = []
        for line in log.bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
            lines.append((TerminalText.clean(line, colours: Terminal.hasColour), offset))
            offset += line.count + 1
        }
        if lines.last?.text.isEmpty == true { lines.removeLast() }
        var kept = Array(lines.indices)
        if let expression {
            let hits = lines.indices.filter { lines[$0].text.contains(expression) }
            let near = Set(hits.flatMap { max($0 - context, 0)...min($0 + context, lines.count - 1) })
            kept = near.sorted()
        }
        if let tail { kept = Array(kept.suffix(max(tail, 0))) }
        var last: Int?
        for index in kept {
            if expression != nil, context > 0, let last, index > last + 1 { Terminal.print("--") }
            last = index
            let time =
                times
                ? (log.milliseconds(lines[index].offset).map { "[\(String(format: "%8.3f", Double($0) / 1000)) s] " }
                    ?? "") : ""
            Terminal.print(time + lines[index].text)
        }
    }

    private func pattern(_ text: String) throws -> Regex<AnyRegexOutput> {
        do { return try Regex(text) } catch {
            throw ValidationError("--grep \"\(text)\" is not a regular expression: \(error)")
        }
    }

    /// Prints the output of live steps as it arrives, step by step in the order of their starts.
    private func followLive(_ folder: StateFolder) async throws {
        let access = try await state.open("logs")
        let printer = FollowPrinter(only: step, attempt: attempt)
        do {
            try await withThrowingTaskGroup(of: Bool.self) { group in
                group.addTask {
                    while !Task.isCancelled {
                        await printer.print()
                        do { try await Task.sleep(for: .milliseconds(100)) } catch { break }
                    }
                    return false
                }
                group.addTask { [run] in
                    try await access.ask(.follow(run.id)) { reply in
                        if case .progress(.live(let live)) = reply { await printer.take(live) }
                    }
                    return true
                }
                while let isDone = try await group.next(), !isDone {}
                group.cancelAll()
            }
        } catch {
            await access.close()
            throw error
        }
        await access.close()
        // The last output is in the archive by now.
        let loader = try ReportLoader(folder)
        if let report = try? await loader.store.report(run.id) { try await printer.finish(report, loader) }
    }
}

/// Prints what was added to each growing log.
private actor FollowPrinter {
    private let only: String?
    private let attempt: Int?
    private var live: LiveRun?
    private var printed: [String: Int] = [:]
    private var current: String?

    init(only: String?, attempt: Int?) {
        self.only = only
        self.attempt = attempt
    }

    func take(_ live: LiveRun) { self.live = live }

    func print() {
        guard let live else { return }
        for (index, step) in live.steps.enumerated() where only == nil || step.record.name == only {
            guard step.attempt > 0 else { continue }
            for number in 1...step.attempt where attempt == nil || attempt == number {
                let name = AttemptRecord.logName(step: index + 1, attempt: number)
                guard let file = FileHandle(forReadingAtPath: "\(live.logs)/\(name)") else { continue }
                try? file.seek(toOffset: UInt64(printed[name] ?? 0))
                let data = (try? file.readToEnd()) ?? Data()
                try? file.close()
                put(data, name, step.record.name)
            }
        }
    }

    func finish(_ report: Report, _ loader: ReportLoader) async throws {
        for step in report.steps where only == nil || step.name == only {
            for record in step.attempts {
                guard attempt == nil || attempt == record.number, let log = record.log else { continue }
                let bytes = try await loader.store.log(report.id, log.file)
                put(Data(bytes.dropFirst(printed[log.file] ?? 0)), log.file, step.name)
            }
        }
    }

    private func put(_ data: Data, _ name: String, _ step: String) {
        guard !data.isEmpty else { return }
        printed[name, default: 0] += data.count
        if current != name, only == nil { Terminal.say("── \(step)") }
        current = name
        if Terminal.outputIsTerminal {
            Terminal.put(TerminalText.clean(data, colours: Terminal.hasColour))
        } else {
            FileHandle.standardOutput.write(data)
        }
    }
}
