package import PlanOrder
import DaemonLog
package import Store
package import Results
import Foundation
import Git
package import Logging
package import Pipeline

/// Uses results of earlier runs to order steps by the likelihood of failure. If they can't be read, the run continues.
package struct RunOrder: Sendable {
    package let index: Store.Index
    package let log: Logger

    package init(index: Store.Index, log: Logger) {
        self.index = index
        self.log = log
    }

    /// The order of the plan's steps; nil if there is nothing to order.
    package func steps(of prepared: RunPreparation, _ request: RunRequest) async -> StepOrder? {
        guard prepared.plan.steps.count > 1 else { return nil }
        do {
            let history = try await index.stepHistory(
                repository: request.repository, workflow: request.workflow, change: request.change?.name)
            return StepOrder(
                prepared.plan, history: history, changedFiles: prepared.context.changedFiles,
                nearTests: prepared.context.tests.near)
        } catch {
            log.warning(
                "workflow \(request.workflow): its steps start in the order of the plan: \(error)",
                metadata: .code(.orderUnknown, repository: request.repository))
            return nil
        }
    }

    /// The test history that the run's workflow can read while it is planned.
    ///
    /// - Parameter store: The repository with the tested commit.
    package func tests(of request: RunRequest, _ facts: RunFacts, store: String) async -> TestHistory {
        do {
            let nearness = TestNearness(changedFiles: facts.changedFiles)
            var candidates = try await index.testCandidates(
                repository: request.repository, workflow: request.workflow, change: request.change?.name,
                nearness: nearness)
            // If the workflow never reported tests, nothing is known about their files either.
            guard candidates.knowsTests else { return TestHistory() }
            let known = Set(candidates.near.compactMap(\.test.file))
            candidates.newFiles = nearness.testFiles.filter { !known.contains($0) }
            return try await withRepository(at: store) { [candidates] repository in
                candidates.history { (try? repository.entry($0, at: facts.tested)) != nil }
            }
        } catch {
            log.warning(
                "workflow \(request.workflow): its test history can't be read: \(error)",
                metadata: .code(.orderUnknown, repository: request.repository))
            return TestHistory()
        }
    }
}
