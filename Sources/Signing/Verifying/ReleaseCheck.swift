/// One thing that was looked at, and what came of it.
package struct ReleaseCheck: Sendable, Hashable, Codable {
    package enum Name: String, Sendable, Codable, CaseIterable {
        /// The file itself.
        case file
        /// `release.json`: who signed it.
        case manifest
        /// Whether the file is the one that `release.json` lists.
        case listed
        case checksums, minisign, cosign, bundle, provenance, notes
        /// Whether everything that was signed says the same.
        case agreement
        /// What the caller expects.
        case version, commit, repository, atLeast = "at-least"
        /// Whether a trusted key has signed the file in any form.
        case signature
        /// Whether a folder has the files of the release and no others.
        case folder
    }

    package enum State: String, Sendable, Codable {
        case passed, failed
        /// There was nothing to look at, or no key to check it with. Nothing follows from that.
        case absent
    }

    package var name: Name
    package var state: State
    /// Why it failed, or why nothing was concluded; nil if it passed or nothing was there.
    package var code: String?
    /// What it means, for people. Foreign text in it is not escaped yet.
    package var sentence: String
}

/// What is known of a file of a release.
package struct FileVerdict: Sendable, Hashable, Codable {
    /// The path as it was given.
    package var file: String
    /// SHA-256 in lower-case hexadecimal digits; nil if it could not be read.
    package var sha256: String?
    package var bytes: Int64?
    /// Whether a trusted key has signed it, nothing speaks against it, and it is what was expected. Of a draft, whose list
    /// nobody has signed yet: whether it is as it was made.
    package var accepted: Bool
    /// The trusted keys that have signed it.
    package var signedBy: [KeyID]
    /// What those who signed it say it is.
    package var version: String?
    package var commit: String?
    package var repository: String?
    package var checks: [ReleaseCheck]

    /// The codes of all checks that failed.
    package var refusals: [String] { checks.filter { $0.state == .failed }.compactMap(\.code) }
}

extension SigningError.Code {
    /// The file is not there.
    package static let missing = Self(rawValue: "missing")
    /// No trusted key has signed the file.
    package static let unsigned = Self(rawValue: "unsigned")
    /// A signed list does not have the file.
    package static let notListed = Self(rawValue: "not-listed")
    /// The file differs from the one that was signed.
    package static let otherDigest = Self(rawValue: "other-digest")
    /// What was signed has another name.
    package static let otherName = Self(rawValue: "other-name")
    /// The notes are not those of the release.
    package static let otherNotes = Self(rawValue: "other-notes")
    /// Signed statements say different things.
    package static let contradiction = Self(rawValue: "contradiction")
    /// Another version than was expected.
    package static let otherVersion = Self(rawValue: "other-version")
    /// An older version than is accepted.
    package static let olderVersion = Self(rawValue: "older-version")
    /// Another commit than was expected.
    package static let otherCommit = Self(rawValue: "other-commit")
    /// Another repository than was expected.
    package static let otherRepository = Self(rawValue: "other-repository")
    /// Nothing that was signed says what was asked for.
    package static let unproven = Self(rawValue: "unproven")
    /// A folder has a file that is not part of the release.
    package static let extraFile = Self(rawValue: "extra-file")
}
