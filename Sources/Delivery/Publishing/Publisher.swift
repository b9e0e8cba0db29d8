package import Foundation
package import Results

/// Brings releases to one destination.
package protocol Publisher: Sendable {
    /// Publishes the release, or continues what an earlier call has begun.
    ///
    /// A call may be interrupted at any moment, by a crash of the daemon too, and is then made again with the same
    /// release. So a publisher looks what is at the destination before it creates or uploads anything. A file that is
    /// there with other bytes is an error: a version is never replaced.
    ///
    /// - Parameters:
    ///   - release: What is published. It is the same at each call.
    ///   - progress: What earlier calls have noted.
    ///   - say: Receives lines for the step's log.
    /// - Returns: Where it is now. If the destination takes it no further, it is `refused` with a reason, and the step
    ///   fails.
    /// - Throws: ``DeliveryProblem``.
    func publish(
        _ release: ReleaseContent, progress: any PublishingProgress, say: @escaping @Sendable (String) -> Void
    ) async throws -> Publication

    /// Finds out before anything is built that the destination can't be used as it is declared, for example because a
    /// key can't sign or a program is missing. It reaches no other machine.
    ///
    /// - Throws: ``DeliveryProblem``.
    func check() async throws

    /// Asks the destination whether it would refuse this release, because its tag is at another commit or a right is
    /// missing. If it does not answer within some seconds, nothing is known, and the release may go on.
    ///
    /// - Throws: ``DeliveryProblem``.
    func check(tag: String, at commit: String) async throws

    /// How far its users have a release that ``publish(_:progress:say:)`` has brought there; nil if that does not change
    /// by itself.
    ///
    /// - Throws: ``DeliveryProblem``.
    func state(of release: ReleaseContent) async throws -> PublicationStanding?
}

extension Publisher {
    package func check() async throws {}

    package func check(tag: String, at commit: String) async throws {}

    package func state(of release: ReleaseContent) async throws -> PublicationStanding? { nil }
}

/// How far the users of a destination have a release, and what is in its way there.
package struct PublicationStanding: Sendable, Equatable {
    package var state: PublicationRecord.State
    /// Why it gets no further, or not by itself, with the next step; nil: nothing is known to be in its way.
    package var reason: String?

    package init(_ state: PublicationRecord.State, because reason: String? = nil) {
        (self.state, self.reason) = (state, reason)
    }
}

/// Durable notes of one publication, for what can't be seen at the destination.
package protocol PublishingProgress: Sendable {
    func value(_ key: String) async throws -> String?
    /// Notes a value durably; nil removes it.
    func set(_ key: String, to value: String?) async throws
    /// A publisher calls this right before the step by which users see the release.
    ///
    /// - Throws: ``DeliveryProblem`` with `.conflict` if a person has withdrawn the release meanwhile.
    func confirm() async throws
}

extension PublishingProgress {
    package func confirm() async throws {}
}

/// A release, as publishers see it.
package struct ReleaseContent: Sendable, Equatable {
    /// The name of the watched repository.
    package var repository: String
    package var version: String
    /// What users of an app see beside the build number, as in 1.4 for version 1.4.812.
    package var marketingVersion: String
    package var buildNumber: Int
    /// The tag, as in `v1.2.0`. It may not exist yet.
    package var tag: String
    /// 40 or 64 hexadecimal digits.
    package var commit: String
    /// In Markdown.
    package var notes: String
    package var committedAt: Date
    package var files: [ReleaseFile]

    package init(
        repository: String, version: String, marketingVersion: String? = nil, buildNumber: Int, tag: String,
        commit: String, notes: String, committedAt: Date, files: [ReleaseFile]
    ) {
        self.repository = repository
        self.version = version
        self.marketingVersion = marketingVersion ?? version
        self.buildNumber = buildNumber
        self.tag = tag
        self.commit = commit
        self.notes = notes
        self.committedAt = committedAt
        self.files = files
    }

    init(_ release: ReleaseRecord, files: [ReleaseFile]) {
        self.init(
            repository: release.repository, version: release.version, marketingVersion: release.marketingVersion,
            buildNumber: release.buildNumber, tag: release.tag, commit: release.commit, notes: release.notes,
            committedAt: release.committedAt, files: files)
    }
}

/// A file of a release. Its content never changes.
package struct ReleaseFile: Sendable, Equatable, Codable {
    /// Without folders, and unique in the release.
    package var name: String
    /// Where it is on this machine, as an absolute path.
    package var path: String
    package var bytes: Int
    /// Lower-case hex.
    package var sha256: String

    package init(name: String, path: String, bytes: Int, sha256: String) {
        self.name = name
        self.path = path
        self.bytes = bytes
        self.sha256 = sha256
    }
}

/// Where a release has been brought to.
package struct Publication: Sendable, Equatable, Codable {
    /// How far its users have it.
    package var state: PublicationRecord.State
    /// Why they don't have it yet; nil: nothing is known to be in its way.
    package var reason: String?
    /// The address of a page or file for people.
    package var address: String?
    /// A line for people that says how to install it, as in `brew install owner/tap/name`.
    package var install: String?

    package init(
        state: PublicationRecord.State, reason: String? = nil, address: String? = nil, install: String? = nil
    ) {
        self.state = state
        self.reason = reason
        self.address = address
        self.install = install
    }
}

/// Why a release could not be made or published.
package struct DeliveryProblem: Error, Sendable, Equatable, CustomStringConvertible {
    package enum Code: String, Sendable {
        /// The destination did not answer, or not as it should; another attempt may succeed.
        case unreachable
        /// The credentials are missing, wrong or lack a permission.
        case refused
        /// The version is there with other bytes.
        case conflict
        /// The release can't be published there as it is.
        case invalid
        /// This machine failed.
        case machine
    }

    package var code: Code
    /// A sentence with the next step.
    package var description: String

    package init(_ code: Code, _ description: String) {
        self.code = code
        self.description = description
    }
}
