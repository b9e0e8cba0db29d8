import Foundation
package import Listening
package import Logging
import Pipeline
package import Running

/// Where tasks and the world outside meet: forges, TestFlight, crash services, and what runs by themselves find.
package struct TaskOutside: Sendable {
    /// The value of a secret of a repository; nil: it is not set.
    package typealias Secret = @Sendable (_ name: String, _ repository: String) async throws -> [UInt8]?

    /// The time from the daemon's start to the first look for what happened while none listened.
    private static let firstPause = Duration.seconds(60)

    package let forge: TaskForge
    package let failures: FailureIntake
    private let teller: ForgeTeller
    private let testFlight: TestFlightIntake
    private let hook: TestFlightHook
    private let crashes: CrashEndpoint

    package init(_ requests: TaskRequests, secret: @escaping Secret, log: Logger) {
        let sources = TaskSources(
            declarations: requests.declarations, repositories: requests.repositories, log: log)
        let notices = TestFlightNotices()
        forge = TaskForge(requests: requests, sources: sources)
        failures = FailureIntake(requests: requests, sources: sources, log: log)
        teller = ForgeTeller(index: requests.index, log: log)
        testFlight = TestFlightIntake(
            requests: requests, sources: sources, notices: notices, secret: secret, log: log)
        hook = TestFlightHook(notices: notices) { repository in
            let found = await sources.rules(of: repository)?.sources ?? []
            guard found.contains(where: \.isTestFlight) else { return nil }
            return try? await secret(TestFlightHook.secretName, repository)
        }
        crashes = CrashEndpoint(requests: requests, sources: sources, secret: secret)
    }

    /// Runs until the task is cancelled.
    package func run(_ news: ChangeNotifier) async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await teller.run(news) }
            group.addTask {
                // Both compile workflows, perhaps. The first minute is for what the daemon watches.
                guard (try? await Task.sleep(for: Self.firstPause)) != nil else { return }
                await failures.catchUp()
                await testFlight.run()
            }
            await group.waitForAll()
        }
    }

    /// Answers what services send, and hands all other requests on.
    package func responder(others: @escaping WebServer.Responder) -> WebServer.Responder {
        crashes.responder(others: hook.responder(others: others))
    }
}

extension TaskSourceRule {
    fileprivate var isTestFlight: Bool {
        switch self {
        case .testFlight: true
        case .issueLabel, .crashEndpoint, .scheduledRun, .redTarget: false
        }
    }
}
