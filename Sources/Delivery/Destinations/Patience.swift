import ForgeConnection
import Foundation

/// How long a publisher goes on when its destination fails for a while.
struct Patience: Sendable {
    /// From the first failure in a row to the last attempt.
    var most: Duration = .seconds(1_800)
    /// The pause after the first failure; it doubles up to a minute.
    var first: Duration = .milliseconds(500)
    /// The most attempts.
    var attempts = 40
    var now: @Sendable () -> ContinuousClock.Instant = { .now }

    /// Makes attempts until one succeeds, or fails for good.
    ///
    /// - Parameter attempt: It looks what is there before it changes anything, since the one before may have had an effect.
    /// - Throws: ``DeliveryProblem``; `CancellationError`.
    func run<Value: Sendable>(
        say: @Sendable (String) -> Void, _ attempt: () async throws -> Value
    ) async throws -> Value {
        var (end, pause, made) = (now(), first, 0)
        while true {
            let began = now()
            do { return try await attempt() } catch is CancellationError { throw CancellationError() } catch {
                try Task.checkCancellation()
                made += 1
                let failed = now()
                // An attempt that went on for so long has got further: this is the first failure in a row.
                if made == 1 || failed - began >= most { (end, pause) = (failed + most, first) }
                let problem = Self.problem(error)
                var wait = pause
                if let date = (error as? ForgeError)?.retryAt {
                    wait = max(wait, .seconds(max(0, date.timeIntervalSinceNow)))
                }
                guard problem.code == .unreachable, made < attempts, failed + wait < end else {
                    throw problem
                }
                let time =
                    wait < .seconds(1) ? "at once" : "in \(wait.formatted(.units(allowed: [.minutes, .seconds])))"
                say("\(problem.description); trying again \(time)")
                try await Task.sleep(for: wait)
                pause = min(pause * 2, .seconds(60))
            }
        }
    }

    static func problem(_ error: any Error) -> DeliveryProblem {
        if let problem = error as? DeliveryProblem { return problem }
        guard let error = error as? ForgeError else {
            return DeliveryProblem(.machine, "publishing failed on this machine: \(PublishedName.shown("\(error)"))")
        }
        let words = PublishedName.shown(error.description)
        switch error.code {
        case .unauthorized, .forbidden, .notFound, .badCredential:
            return DeliveryProblem(
                .refused,
                "\(words); give the connection a credential that may write releases: `pipectl forge connect`")
        case .refused, .badAddress: return DeliveryProblem(.invalid, words)
        default: return DeliveryProblem(.unreachable, words)
        }
    }
}
