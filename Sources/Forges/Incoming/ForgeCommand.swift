public import Foundation
public import Results

/// What somebody asks pipectl for in a comment at a change or an issue, or with a button of a check.
public enum ForgeCommand: Sendable, Equatable {
    /// Repeats the newest runs of the change, or what failed in them.
    case rerun(failedOnly: Bool)
    /// Lets the change's runs start. `head` is the beginning of the commit that was meant, where it was named.
    case approve(head: String?)
    case cancel
    case fix
    case land
    /// Makes a task of an issue.
    case task
    /// Approves the plan of a task: that version, or the newest.
    case approvePlan(version: Int?)
    /// Says something to the plan or the work of a task.
    case remark(String)
    /// Refuses the plan or the change of a task.
    case refuse(reason: String?)

    /// The line that a comment begins with.
    static let prefix = "/pipectl"
    /// All commands, for who wrote another one.
    static let usage =
        "rerun, rerun failed, approve, approve COMMIT, cancel, fix, land; for tasks: task, approve plan, "
        + "approve plan VERSION, remark TEXT, refuse, refuse REASON, cancel, land"
    /// The longest text of a command, in bytes; what is longer is cut.
    static let longestText = 8 << 10

    /// Reads a comment.
    ///
    /// Only its first line counts: commands in quotes, code and the text of others are none. What is not exactly a
    /// command, also by a letter that looks like another one, is none. The text of a remark goes on to the comment's end.
    ///
    /// - Returns: Nil where the comment asks pipectl for nothing; `.failure` where it does, and not for what there is.
    static func read(_ body: String) -> Result<ForgeCommand, NoCommand>? {
        if let command = words(body) { return .success(command) }
        let bytes = body.utf8.prefix(400)
        let line = bytes.prefix { $0 != 0x0A && $0 != 0x0D }
        guard line.starts(with: prefix.utf8) else { return nil }
        let rest = line.dropFirst(prefix.utf8.count)
        guard rest.isEmpty || rest.first == 0x20 || rest.first == 0x09 else { return nil }
        guard line.count <= 200, rest.allSatisfy({ (0x20...0x7E).contains($0) || $0 == 0x09 }) else {
            return .failure(NoCommand())
        }
        let words = String(Substring(rest)).split { $0 == " " || $0 == "\t" }.map(String.init)
        switch (words.first, words.dropFirst().first, words.count) {
        case ("rerun", nil, 1): return .success(.rerun(failedOnly: false))
        case ("rerun", "failed", 2): return .success(.rerun(failedOnly: true))
        case ("approve", nil, 1): return .success(.approve(head: nil))
        case ("approve", let head?, 2) where isCommit(head): return .success(.approve(head: head.lowercased()))
        case ("cancel", nil, 1): return .success(.cancel)
        case ("fix", nil, 1): return .success(.fix)
        case ("land", nil, 1): return .success(.land)
        case ("task", nil, 1): return .success(.task)
        case ("approve", "plan", 2): return .success(.approvePlan(version: nil))
        case ("approve", "plan", 3):
            guard let version = Int(words[2]), (1...10_000).contains(version) else { return .failure(NoCommand()) }
            return .success(.approvePlan(version: version))
        case ("refuse", nil, 1): return .success(.refuse(reason: nil))
        default: return .failure(NoCommand())
        }
    }

    /// A command whose words are for people or agents, and may have any letters.
    private static func words(_ body: String) -> ForgeCommand? {
        for verb in ["remark", "refuse"] {
            let start = "\(prefix) \(verb)"
            guard body.utf8.starts(with: start.utf8) else { continue }
            let rest = body.utf8.dropFirst(start.utf8.count)
            guard let next = rest.first, [0x20, 0x09, 0x0A, 0x0D].contains(next) else { return nil }
            let text = String(decoding: rest.prefix(longestText), as: UTF8.self)
                .trimmingCharacters(in: .whitespacesAndNewlines)
            if verb == "remark" { return text.isEmpty ? nil : .remark(text) }
            return .refuse(reason: text.isEmpty ? nil : text)
        }
        return nil
    }

    /// What a button of a check asks for.
    init?(button: String) {
        switch button {
        case "rerun": self = .rerun(failedOnly: false)
        case "rerun-failed": self = .rerun(failedOnly: true)
        case "approve": self = .approve(head: nil)
        default: return nil
        }
    }

    private static func isCommit(_ text: String) -> Bool {
        (7...64).contains(text.utf8.count) && text.utf8.allSatisfy { Character(UnicodeScalar($0)).isHexDigit }
    }

    /// A comment that speaks to pipectl without a command that it knows.
    struct NoCommand: Error, Equatable {}
}

/// A command of somebody who may write, to be carried out once.
public struct ForgeOrder: Sendable, Equatable {
    public var repository: String
    public var command: ForgeCommand
    /// The number of the change; nil for a button, and for an issue.
    public var change: Int?
    /// The number of the issue that it was written at; nil for others.
    public var issue: Int?
    /// The run whose button it is; nil for a comment, and for all runs of ``head``.
    public var run: RunID?
    /// The commit whose button it is; nil for a comment.
    public var head: String?
    /// Who asks, for people: `ada at GitHub`.
    public var by: String
    /// When it was written, by the forge's clock; nil for a button.
    public var writtenAt: Date?
    /// The same for each repetition of the same order, and no other: whoever carries it out twice must start nothing twice.
    public var key: String

    public init(
        repository: String, command: ForgeCommand, change: Int?, issue: Int? = nil, run: RunID?, head: String?,
        by: String, writtenAt: Date?, key: String
    ) {
        self.repository = repository
        self.command = command
        self.change = change
        self.issue = issue
        self.run = run
        self.head = head
        self.by = by
        self.writtenAt = writtenAt
        self.key = key
    }
}

/// What became of an order, for who gave it.
public struct ForgeOutcome: Sendable, Equatable, Codable {
    public var isObeyed: Bool
    /// One sentence without its full stop; may quote foreign text.
    public var text: String

    public init(isObeyed: Bool, text: String) { (self.isObeyed, self.text) = (isObeyed, text) }
}

/// Whose commands in comments are obeyed beside those of people who may write.
public struct CommandPolicy: Sendable, Equatable {
    /// Whether an edited comment counts. Whoever may edit comments of others could put words into their mouths.
    public var allowsEdited = false
    /// Logins of bots that are obeyed where they may write.
    public var bots: [String] = []

    public init() {}

    /// Why a comment is not obeyed, whoever may write: nil if it may be; an empty text for a bot, which gets no answer that
    /// it could answer.
    func refusal(_ remark: ForgeRemark) -> String? {
        if remark.isBot, !bots.contains(remark.author.login) { return "" }
        if remark.isEdited, !allowsEdited {
            return "the comment was edited; write a new one, so that it is clear who asks"
        }
        return nil
    }
}
