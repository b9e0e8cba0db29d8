public import Foundation

/// What may be told of a secret: all but its value, and nothing that tells of the value.
public struct SecretRecord: Sendable, Equatable, Codable {
    /// Where a secret is kept.
    public enum Source: String, Sendable, Codable {
        /// `$CREDENTIALS_DIRECTORY`, see systemd.exec(5).
        case systemd
        /// `secrets/` of the state folder.
        case folder
        /// The keychain of macOS.
        case keychain
    }

    public var name: String
    public var source: Source
    /// The only repository whose runs are given it; nil for all.
    public var repository: String?
    /// When it was last set; nil where that is not known.
    public var setAt: Date?
    /// Why it can't be given to a step, with what to do about it.
    public var problem: String?
    /// Whether another secret of that name comes first for every repository.
    public var isHidden = false
}
