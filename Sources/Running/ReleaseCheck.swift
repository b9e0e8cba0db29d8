import Git
import Pipeline
import Preparing
import Results
import Store
import Watching

/// Finds out that a release can't be made or published before its steps take their time.
struct ReleaseCheck: Sendable {
    let index: Store.Index

    /// - Throws: ``EarlyVerdict`` if Apple does not take the version, or if the forge to publish at is not known.
    func check(_ prepared: RunPreparation, _ request: RunRequest) async throws {
        guard prepared.plan.release != nil else { return }
        for step in prepared.plan.steps {
            guard case .publish(let destination) = step.action else { continue }
            if destination.isAtForge { try await checkForge(of: step, prepared, request) }
            if case .testFlight = destination { try checkMarketing(of: step, prepared) }
        }
    }

    private func checkMarketing(of step: PlannedStep, _ prepared: RunPreparation) throws {
        guard let version = prepared.version?.marketing, !TestFlight.takes(version) else { return }
        throw EarlyVerdict(
            verdict: .failed,
            reason:
                "step \"\(step.name)\" can't publish version \(version): Apple takes versions of one to three numbers with "
                + "periods between, such as 1.4 or 1.4.2; release another version",
            tested: prepared.tested)
    }

    private func checkForge(of step: PlannedStep, _ prepared: RunPreparation, _ request: RunRequest) async throws {
        if try await index.forges().contains(where: { $0.repository == request.repository }) { return }
        throw EarlyVerdict(
            verdict: .infrastructure,
            reason:
                "step \"\(step.name)\" can't run: \(request.repository) is not connected with a forge; run "
                + "`pipectl forge connect URL`",
            tested: prepared.tested)
    }
}

extension Destination {
    /// Whether it is the forge that the repository is connected with.
    fileprivate var isAtForge: Bool {
        switch self {
        case .forge, .packages: true
        case .registry, .folder, .ssh, .apt, .homebrew, .testFlight: false
        }
    }
}
