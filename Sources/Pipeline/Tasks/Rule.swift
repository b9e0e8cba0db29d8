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

extension Rule {
    /// Everything that is wrong with the declaration.
    package var problems: [String] {
        var problems: [String] = []
        func report(_ problem: String) { problems.append("the rule \"\(text.prefix(100))\" is unusable: \(problem)") }
        if text.allSatisfy(\.isWhitespace) || text.utf8.count > 500 || text.contains(where: \.isNewline) {
            report("its text is empty, not one line, or longer than 500 bytes")
        }
        do throws(LinePatternProblem) { _ = try LinePattern(pattern) } catch { report(error.description) }
        for glob in files + except {
            do throws(GlobProblem) { _ = try Glob(glob) } catch { report(error.description) }
        }
        if let source {
            let parts = source.split(separator: "/", omittingEmptySubsequences: false)
            if source.isEmpty || parts.contains(where: { ["", ".", ".."].contains($0) }) || source.utf8.contains(0) {
                report("\"\(source)\" is not the path of a file of the repository; write says: \"AGENTS.md\"")
            }
        }
        return problems
    }

    /// The line of the file ``source`` that states the rule, from 1; nil if none does.
    ///
    /// Case, white space and emphasis are not compared.
    package func citation(in content: String) -> (line: Int, text: String)? {
        let wanted = Self.plain(text)
        guard !wanted.isEmpty else { return nil }
        // By scalars, since a carriage return and a line feed are one character.
        let lines = content.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false).map { String($0) }
        let number = lines.firstIndex { Self.plain($0).contains(wanted) }
        return number.map { ($0 + 1, lines[$0]) }
    }

    private static func plain(_ text: some StringProtocol) -> String {
        text.lowercased().filter { !"*_`".contains($0) }.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }
}
