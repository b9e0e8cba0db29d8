public import Foundation

/// What may be shown of a secret: everything but its value.
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

    /// The name, such as `DEPLOY_TOKEN`.
    public var name: String
    /// The store that it is in.
    public var source: Source
    /// The only repository whose runs get it; nil for all.
    public var repository: String?
    /// When it was last set; nil if that is not known.
    public var setAt: Date?
    /// Why no step can get it, and what to do about it.
    public var problem: String?
    /// Whether another secret of that name is used instead, for every repository.
    public var isHidden = false
}
