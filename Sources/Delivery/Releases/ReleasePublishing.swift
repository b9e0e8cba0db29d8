import Concurrency
import Engine
import Foundation
import Pipeline
import Results
import Store

/// Brings the release of a run to one destination.
struct ReleasePublishing {
    private let service: DeliveryService
    private let basis: ReleaseBasis

    init(_ service: DeliveryService, _ basis: ReleaseBasis) {
        self.service = service
        self.basis = basis
    }

    func publish(
        to destination: Destination, _ order: ReleaseOrder, say: @escaping @Sendable (String) -> Void
    ) async throws {
        let (version, step) = (basis.version.version, order.step.name)
        let subject = PublishingTurns.Subject(repository: basis.repository, version: version, step: step)
        try await service.turns.take(
            subject, waiting: { say("another run publishes \(version) in \"\(step)\" now; waiting for its end") },
            { try await publishAlone(to: destination, order, say: say) })
    }

    private func publishAlone(
        to destination: Destination, _ order: ReleaseOrder, say: @escaping @Sendable (String) -> Void
    ) async throws {
        guard
            let made = try await service.index.release(basis.version.version, of: basis.repository),
            made.commit == basis.commit, made.workflow == basis.workflow
        else {
            throw DeliveryProblem(
                .invalid,
                "this commit has no release \(basis.version.version): the step that makes it must run first")
        }
        let signers = try Signers(basis.plan.release?.signatures ?? [], order.secrets)
        let release = try await ReleaseSeal(service, made).seal(with: signers, say: say)
        guard release.state != .yanked else { throw Self.withdrawn(release.version) }
        let step = order.step.name
        try await record(.begun, nil, of: step, destination, release)
        try await service.index.setPublishingNote(
            ReleaseFollowing.destination, to: try ReleaseFollowing.text(of: destination), of: step,
            version: release.version, in: release.repository)
        let publisher = try await service.publishers(destination, basis.repository, order.secrets)
        let folders = service.folders
        let content = ReleaseContent(release, files: try await offThread { try folders.files(of: release) })
        let progress = StoredProgress(
            index: service.index, step: step, version: release.version, repository: release.repository)
        let publication = try await publisher.publish(content, progress: progress, say: say)
        try await record(publication.state, publication, of: step, destination, release)
        if publication.state == .refused {
            throw DeliveryProblem(
                .invalid, publication.reason ?? "the destination refuses it and does not say why: look there")
        }
        say(
            "published \(release.version) \(destination.inWords)"
                + (publication.address.map { ": \($0)" } ?? ""))
        try await noteEnd(of: release)
    }

    fileprivate static func withdrawn(_ version: String) -> DeliveryProblem {
        DeliveryProblem(.conflict, "release \(version) was withdrawn; release another commit")
    }

    private func record(
        _ state: PublicationRecord.State, _ publication: Publication?, of step: String, _ destination: Destination,
        _ release: ReleaseRecord
    ) async throws {
        let known = release.publications.first { $0.step == step }
        // A publication that has got further is not set back when its step is repeated.
        if state == .begun, known != nil { return }
        var record = PublicationRecord(
            step: step, destination: destination.inWords, state: state, reason: publication?.reason,
            address: publication?.address, install: publication?.install, updatedAt: Date())
        // One that is there already is as old as it was.
        if let known {
            let now = record.updatedAt
            record.updatedAt = known.updatedAt
            if record != known { record.updatedAt = now }
        }
        try await service.index.record(record, of: release.version, in: release.repository)
        try await service.records.keep(release.version, of: release.repository)
    }

    /// Marks the release as published once every step of the plan has published it.
    private func noteEnd(of release: ReleaseRecord) async throws {
        let steps = basis.plan.steps.compactMap { step -> String? in
            if case .publish = step.action { step.name } else { nil }
        }
        guard let now = try await service.index.release(release.version, of: release.repository) else { return }
        let done = now.publications.filter { ![.begun, .refused].contains($0.state) }.map(\.step)
        guard steps.allSatisfy(done.contains) else { return }
        _ = try await service.index.move(
            release.version, of: release.repository, from: [.sealed], to: .published)
        try await service.records.keep(release.version, of: release.repository)
    }
}

/// What a publisher notes, in the store.
private struct StoredProgress: PublishingProgress {
    let index: Store.Index
    let step: String
    let version: String
    let repository: String

    func value(_ key: String) async throws -> String? {
        try await index.publishingNote(key, of: step, version: version, in: repository)
    }

    func set(_ key: String, to value: String?) async throws {
        try await index.setPublishingNote(key, to: value, of: step, version: version, in: repository)
    }

    func confirm() async throws {
        guard try await index.release(version, of: repository)?.state == .yanked else { return }
        throw ReleasePublishing.withdrawn(version)
    }
}
