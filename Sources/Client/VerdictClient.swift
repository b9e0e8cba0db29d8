package import Control
import Foundation
package import StateFiles

/// Waits for a verdict. If the daemon ends meanwhile, the wait continues with the next daemon, which reads the index.
package struct VerdictClient {
    /// How long to wait for a daemon to start, and for one that ended to come back.
    package static let grace = Duration.seconds(20)
    package static let restartGrace = Duration.seconds(60)

    /// The state folder whose daemon is asked.
    package let state: StateFolder

    package init(state: StateFolder) { self.state = state }

    /// How a wait ended.
    package enum Outcome: Sendable {
        case concluded(WaitState)
        /// The time limit has passed, or there is no daemon, as the sentence says; with the last known state.
        case pending(WaitState?, why: String?)
    }

    /// The progress of a wait.
    package enum Event: Sendable {
        case state(WaitState)
        /// There is no daemon, or it has ended; the client tries again.
        case away(String)
        case back
    }

    /// - Parameter limit: The time limit; nil for none.
    /// - Throws: ``RequestError`` for a subject that can't be waited for.
    package func wait(
        _ request: WaitRequest, limit: Duration?, each: @escaping @Sendable (Event) async throws -> Void
    ) async throws -> Outcome {
        let last = LastState()
        return try await withThrowingTaskGroup(of: Outcome?.self) { group in
            group.addTask {
                try await ask(request, last) { event in
                    if case .state(let state) = event { await last.set(state) }
                    try await each(event)
                }
            }
            if let limit {
                group.addTask {
                    try await Task.sleep(for: limit)
                    return nil
                }
            }
            defer { group.cancelAll() }
            guard let outcome = try await group.next() ?? nil else { return .pending(await last.state, why: nil) }
            return outcome
        }
    }

    private func ask(
        _ request: WaitRequest, _ last: LastState, each: @Sendable (Event) async throws -> Void
    ) async throws -> Outcome {
        // A wait without a limit also waits for a daemon that is started later.
        var end = request.isEndless == true ? nil : ContinuousClock.now + Self.grace
        var isAway = false
        var pause = Duration.milliseconds(50)
        while true {
            do {
                let client = try await DaemonClient<DaemonRequest, DaemonReply>.connect(path: state.socket)
                for try await reply in try await client.send(.wait(request)) {
                    switch reply {
                    case .waiting(let state):
                        if isAway { try await each(.back) }
                        (isAway, pause) = (false, .milliseconds(50))
                        if end != nil { end = ContinuousClock.now + Self.restartGrace }
                        try await each(.state(state))
                        if state.conclusion != nil { return .concluded(state) }
                    default: if let refusal = reply.refusal { throw refusal }
                    }
                }
            } catch let error as DaemonError where error.passes {
                // A wait has no effect, so it can be repeated safely.
                let isGone = error.code == .disconnected || error.code == .stopping
                if isGone, !isAway, end != nil { end = ContinuousClock.now + Self.restartGrace }
                if let end, ContinuousClock.now > end { return .pending(await last.state, why: Self.advice(error)) }
                if !isAway { try await each(.away(isGone ? "The daemon has stopped." : error.message)) }
                isAway = true
            }
            try await Task.sleep(for: pause * Double.random(in: 0.8...1.2))
            pause = min(pause * 2, .seconds(2))
        }
    }
}

extension VerdictClient {
    fileprivate static func advice(_ error: DaemonError) -> String {
        guard error.code == .notRunning else { return error.message }
        return "no daemon is running; start one with `pipectl watch PATH-OR-URL`, or wait for one with --timeout 0"
    }
}

private actor LastState {
    private(set) var state: WaitState?
    func set(_ state: WaitState) { self.state = state }
}

extension DaemonError {
    /// Whether another attempt may reach a daemon that answers; it says nothing about any run.
    package var passes: Bool {
        [.notRunning, .notResponding, .disconnected, .stopping, .busy, .timedOut].contains(code)
    }
}
