import Concurrency
import Masking
import Pipeline
import Results
import Sandbox
import StepLogs

extension StepRunner {
    /// Has a release made or published, until that ends, `stop` is requested or the step's time-out has passed.
    func release(_ work: Work, _ stop: StopSignal) async throws -> AttemptEnd {
        guard let releases = setting.releases else {
            throw ReleaseFailure("releases can't be made here; start the run with `pipectl run` at a daemon")
        }
        let step = work.step
        let order = ReleaseOrder(
            step: step, earlier: earlier, folder: setting.artifacts,
            secrets: setting.secrets.bytes(for: step))
        let log = work.log
        return try await withThrowingTaskGroup(of: AttemptEnd?.self) { group in
            group.addTask {
                let made = try await releases.perform(order) { log.append($0 + "\n") }
                var end = AttemptEnd(process: ProcessEnd(exitCode: 0))
                end.artifacts = made
                return end
            }
            group.addTask { await stop.wait().map { AttemptEnd(process: ProcessEnd(stopped: $0)) } }
            group.addTask {
                do { try await Task.sleep(for: .seconds(step.timeout)) } catch { return nil }
                return AttemptEnd(
                    process: ProcessEnd(
                        stopped: StopRequest(
                            .timedOut, reason: "it took longer than \(Figures.duration(step.timeout))")))
            }
            defer { group.cancelAll() }
            while let end = try await group.next() { if let end { return end } }
            throw ReleaseFailure("the daemon ended before the step did", isOfMachine: true)
        }
    }
}
