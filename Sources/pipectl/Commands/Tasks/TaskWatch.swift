import ArgumentParser
import Client
import Control
import Foundation
import Results
import StateFiles
import TaskText
import TerminalText
import UnixSignals

struct TaskWatch: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch", abstract: "Follows a task until a person must decide, or until it ends.",
        discussion: """
            Exit code 0: it got as far as --until says; 1: given up; 4: refused or cancelled; 5: a person must decide; 8: the \
            time is over.
            """)

    enum Goal: String, ExpressibleByArgument, CaseIterable { case ready, landed, released, delivered }

    @OptionGroup var task: TaskOption
    @Option(help: "How far it must get: ready, landed, released or delivered.") var until = Goal.delivered
    @Flag(help: "Stay while a person must decide.") var stay = false
    @Option(
        help: ArgumentHelp("End with exit code 8 after this time, like 15m.", valueName: "time"),
        transform: DurationOption.seconds)
    var timeout: Duration?
    @Flag(help: "Print the task as JSON at the end.") var json = false

    func run() async throws {
        let client: DaemonClient<DaemonRequest, DaemonReply>
        do {
            client = try await DaemonClient.connect(path: try task.state.folder().socket)
        } catch let error as DaemonError where error.code == .notRunning {
            throw CommandEnd(
                code: 3, message: "no daemon is running, so nothing happens; start it with `pipectl watch`")
        }
        let view = TaskProgress()
        let code = try await withThrowingTaskGroup(of: Int32?.self) { group in
            group.addTask { try await follow(client, view) }
            if let timeout, timeout > .zero {
                group.addTask {
                    try await Task.sleep(for: timeout)
                    return 8
                }
            }
            group.addTask {
                for await _ in await UnixSignalsSequence(trapping: .sigint, .sigterm) { return 130 }
                throw CancellationError()
            }
            defer { group.cancelAll() }
            return try await group.next() ?? nil
        }
        guard let newest = await view.newest else { throw CommandEnd(code: code ?? 3, message: nil) }
        if json { try JSONOutput.print(TaskStory(newest)) }
        switch code {
        case 0: return
        case 8: throw CommandEnd(code: 8, message: "the time is over; \(TaskLines.state(newest.task))")
        case 130: throw CommandEnd(code: 130, message: "interrupted; the task goes on")
        case nil:
            throw CommandEnd(
                code: 3,
                message: "lost the connection to the daemon; `pipectl task watch \(task.task)` follows the task again")
        case let code?: throw CommandEnd(code: code, message: nil)
        }
    }

    /// The exit code; nil where the daemon goes away first.
    private func follow(
        _ client: DaemonClient<DaemonRequest, DaemonReply>, _ progress: TaskProgress
    ) async throws -> Int32? {
        for try await reply in try await client.send(.task(.follow(task.task))) {
            if let refusal = reply.refusal { throw refusal }
            guard case .task(.task(let view)) = reply else { continue }
            await progress.take(view)
            if let code = code(of: view.task.state) { return code }
        }
        return nil
    }

    /// The exit code of a task in this state; nil where it is followed on.
    private func code(of state: TaskState) -> Int32? {
        let reached: [TaskState] =
            switch until {
            case .ready: [.ready, .landing, .landed, .released, .delivered]
            case .landed: [.landed, .released, .delivered]
            case .released: [.released, .delivered]
            case .delivered: [.delivered]
            }
        if reached.contains(state) || state == .answered { return 0 }
        if state == .givenUp { return 1 }
        if state == .refused || state == .cancelled { return 4 }
        return state.waitsForPerson && !stay ? 5 : nil
    }
}

/// Says what is new of a task, a line each.
private actor TaskProgress {
    private(set) var newest: TaskView?
    private var said = 0

    func take(_ view: TaskView) {
        let isFirst = newest == nil
        let before = newest?.task
        newest = view
        let report = TaskReport(TaskStory(view))
        // Of the past, only where the task is now.
        if isFirst {
            Terminal.say(
                TerminalText.name("task \(view.task.id) of \(view.task.repository): \(view.task.title)", limit: 500))
        }
        if !isFirst {
            for event in view.events where event.number > said { Terminal.say(report.sentence(event)) }
        }
        said = view.events.last?.number ?? 0
        if before?.state != view.task.state || before?.reason != view.task.reason {
            Terminal.say(TaskLines.state(view.task))
            for (place, command) in TaskWords.next(view.task, plan: view.plan).enumerated()
            where view.task.state.waitsForPerson {
                Terminal.say((place == 0 ? "next: " : "  or: ") + command)
            }
        }
    }
}
