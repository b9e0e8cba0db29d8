import Foundation
import Pipeline
package import Results
import Store

/// Looks again at releases on which a destination still works after their steps have ended: Apple may review a build for
/// days, and accept a build that it had refused when a person submits it again.
package struct ReleaseFollowing: Sendable {
    /// Finds a secret of a repository; nil if it is not set.
    package typealias Secrets = @Sendable (_ name: String, _ repository: String) async throws -> [UInt8]?

    /// Under this key the destination of a step is noted.
    static let destination = "pipectl.destination"
    /// Whatever was begun longer ago has been forgotten by its people.
    private static let longest: TimeInterval = 90 * 86_400

    private let service: DeliveryService
    private let secrets: Secrets

    package init(_ service: DeliveryService, secrets: @escaping Secrets) {
        (self.service, self.secrets) = (service, secrets)
    }

    /// A publication that was looked at.
    package struct Seen: Sendable, Equatable {
        package var release: ReleaseRecord
        package var step: String
        /// How far it is now, or why that is not known.
        package var result: Result<PublicationStanding, DeliveryProblem>
    }

    /// Asks the destinations, and records what has got further or can't. What is as it was is not told again.
    ///
    /// - Returns: What has changed, and what could not be asked.
    package func look() async throws -> [Seen] {
        var seen: [Seen] = []
        for release in try await service.index.versions(of: nil, limit: 200) where release.state != .yanked {
            for publication in release.publications
            where [.processing, .refused].contains(publication.state)
                && publication.updatedAt.timeIntervalSinceNow > -Self.longest
            {
                do {
                    // A step that publishes it at this moment sees for itself how far it is.
                    let subject = PublishingTurns.Subject(
                        repository: release.repository, version: release.version, step: publication.step)
                    let standing = try await service.turns.takeIfFree(subject) {
                        try await lookAgain(publication, release)
                    }
                    guard let standing = standing ?? nil else { continue }
                    seen.append(Seen(release: release, step: publication.step, result: .success(standing)))
                } catch {
                    try Task.checkCancellation()
                    // It may be a secret that can't be read, and says nothing about other releases.
                    let problem = error as? DeliveryProblem ?? DeliveryProblem(.machine, "\(error)")
                    seen.append(Seen(release: release, step: publication.step, result: .failure(problem)))
                }
            }
        }
        return seen
    }

    /// Records how far a publication is if that has changed; nil if it has not.
    private func lookAgain(
        _ publication: PublicationRecord, _ release: ReleaseRecord
    ) async throws -> PublicationStanding? {
        // The step may have ended since the list was read.
        let known = try await service.index.release(release.version, of: release.repository)
        guard known?.publications.contains(publication) == true else { return nil }
        guard let standing = try await standing(of: publication, release),
            standing != PublicationStanding(publication.state, because: publication.reason)
        else { return nil }
        var now = publication
        (now.state, now.reason, now.updatedAt) = (standing.state, standing.reason, Date())
        try await service.index.record(now, of: release.version, in: release.repository)
        try await service.records.keep(release.version, of: release.repository)
        return standing
    }

    private func standing(
        of publication: PublicationRecord, _ release: ReleaseRecord
    ) async throws -> PublicationStanding? {
        let noted = try await service.index.publishingNote(
            Self.destination, of: publication.step, version: release.version, in: release.repository)
        guard let noted, let destination = try? JSONDecoder().decode(Destination.self, from: Data(noted.utf8)) else {
            return nil
        }
        var values: [String: [UInt8]] = [:]
        for name in destination.secrets { values[name] = try await secrets(name, release.repository) }
        let publisher = try await service.publishers(destination, release.repository, values)
        return try await publisher.state(of: ReleaseContent(release, files: []))
    }

    static func text(of destination: Destination) throws -> String {
        String(decoding: try JSONEncoder().encode(destination), as: UTF8.self)
    }
}
