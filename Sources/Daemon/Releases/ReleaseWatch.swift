import DaemonLog
import Delivery
import Logging
import Results
import Running

/// Notes when releases get further at their destinations after their steps have ended.
struct ReleaseWatch: Sendable {
    let following: ReleaseFollowing
    let records: ReleaseRecords
    /// Whoever waits for a release, such as the task that asked for the change.
    let news: ChangeNotifier
    let log: Logger
    /// Apple allows some thousand requests an hour, and a review takes hours.
    private static let pause = Duration.seconds(600)

    /// Looks again and again, until the task is cancelled.
    func run() async {
        do { try await records.keepMissing() } catch {
            log.warning("the records of releases can't be written: \(error)", metadata: .code(.releaseFollowed))
        }
        var known: [String: DeliveryProblem] = [:]
        while !Task.isCancelled {
            known = await look(known)
            do { try await Task.sleep(for: Self.pause) } catch { return }
        }
    }

    /// - Parameter known: The problems that were logged before, by what they are of.
    /// - Returns: Those of now.
    private func look(_ known: [String: DeliveryProblem]) async -> [String: DeliveryProblem] {
        var problems: [String: DeliveryProblem] = [:]
        do {
            for seen in try await following.look() {
                let release = seen.release
                let what = "\(release.repository): release \(release.version), step \(seen.step)"
                let code = Logger.Metadata.code(
                    .releaseFollowed, run: release.run, repository: release.repository)
                switch seen.result {
                case .success(let standing):
                    let why = standing.reason.map { ": \($0)" } ?? ""
                    log.log(
                        level: why.isEmpty ? .notice : .warning, "\(what): \(standing.state.rawValue) now\(why)",
                        metadata: code)
                    news.tellAll()
                case .failure(let problem):
                    problems[what] = problem
                    if known[what] != problem { log.warning("\(what) can't be followed: \(problem)", metadata: code) }
                }
            }
        } catch {
            log.warning("releases can't be followed: \(error)", metadata: .code(.releaseFollowed))
        }
        return problems
    }
}
