import BuildBox
import Foundation

/// Waits for a verdict at the daemon, and survives that one's end: it asks the next daemon, which knows from the index.
struct VerdictClient {
    /// How long the first daemon may take to come; one that went away is waited for without a limit.
    static let patience = Duration.seconds(60)

    let state: StateFolder

    /// How a wait ended.
    enum Outcome: Sendable {
        case concluded(WaitState)
        /// The time is over; what was known last.
        case pending(WaitState?)
    }

    /// What happened on the way.
    enum Event: Sendable {
        case state(WaitState)
        /// The daemon is not there, or no more; it is tried again.
        case away(String)
        case back
    }

    /// - Parameter limit: The longest that it may take; nil for as long as it takes.
    /// - Throws: ``BoxError`` for a subject that can't be waited for, ``DaemonError`` when no daemon came at all.
    func wait(
        _ request: WaitRequest, limit: Duration?, each: @escaping @Sendable (Event) async throws -> Void
    ) async throws -> Outcome {
        let last = LastState()
        return try await withThrowingTaskGroup(of: Outcome?.self) { group in
            group.addTask {
                try await ask(request, patience: limit.map { min($0, Self.patience) } ?? Self.patience) { event in
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
            guard let outcome = try await group.next() ?? nil else { return .pending(await last.state) }
            return outcome
        }
    }

    private func ask(
        _ request: WaitRequest, patience: Duration, each: @Sendable (Event) async throws -> Void
    ) async throws -> Outcome {
        let first = ContinuousClock.now + patience
        var (wasThere, isAway) = (false, false)
        var pause = Duration.milliseconds(50)
        while true {
            do {
                let client = try await DaemonClient<BoxRequest, BoxReply>.connect(path: state.socket)
                for try await reply in try await client.send(.wait(request)) {
                    switch reply {
                    case .waiting(let state):
                        if isAway { try await each(.back) }
                        (wasThere, isAway, pause) = (true, false, .milliseconds(50))
                        try await each(.state(state))
                        if state.conclusion != nil { return .concluded(state) }
                    case .refused(let code, let message): throw BoxError(BoxError.Code(rawValue: code), message)
                    default: break
                    }
                }
            } catch let error as DaemonError where error.passes {
                if !wasThere, ContinuousClock.now > first { throw error }
                // A wait asks for nothing that could have taken effect.
                let isGone = error.code == .disconnected || error.code == .stopping
                if !isAway { try await each(.away(isGone ? "The daemon went away." : error.message)) }
                isAway = true
            }
            try await Task.sleep(for: pause * Double.random(in: 0.8...1.2))
            pause = min(pause * 2, .seconds(2))
        }
    }
}

private actor LastState {
    private(set) var state: WaitState?
    func set(_ state: WaitState) { self.state = state }
}

extension DaemonError {
    /// Whether another try may find a daemon that answers; says nothing about any run.
    var passes: Bool {
        [.notRunning, .notResponding, .disconnected, .stopping, .busy, .timedOut].contains(code)
    }
}
