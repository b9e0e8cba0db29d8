/// A rule of the repository that a machine can check: text that the lines of a change must not contain.
///
/// ```swift
/// static let rules = [
///     Rule("no networking in views", forbids: "URLSession|import Network", in: "Views/**", says: "AGENTS.md")
/// ]
/// ```
///
/// The lines that a change adds are checked, not those that were there before. The rules are read from the target, so a
/// change can't rewrite them. What breaks a rule is a finding that cites the rule, and the change does not pass.
public struct Rule: Sendable, Equatable, Codable {
    /// The rule in words, as it stands in the repository's instructions for agents.
    public var text: String
    /// The regular expression that an added line must not match.
    public var pattern: String
    /// Globs of the files that the rule is for; empty: all.
    public var files: [String]
    /// Globs of files that it is not for.
    public var except: [String]
    /// The file that states the rule, such as `AGENTS.md`. The finding cites the line that contains ``text``.
    public var source: String?

    /// - Parameters:
    ///   - text: The rule in words.
    ///   - pattern: A regular expression that an added line must not match.
    ///   - files: Globs of the files that the rule is for. None: all files.
    ///   - except: Globs of files that it is not for.
    ///   - source: The file that states the rule.
    public init(
        _ text: String, forbids pattern: String, in files: String..., except: [String] = [], says source: String? = nil
    ) {
        self.text = text
        self.pattern = pattern
        self.files = files
        self.except = except
        self.source = source
    }
}
