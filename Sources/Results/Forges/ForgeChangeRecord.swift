public import Foundation

/// A change as a forge has it, and as the last look at the repository took it.
public struct ForgeChangeRecord: Sendable, Equatable {
    /// The change's number.
    public var name: String
    /// The newest facts.
    public var facts: ChangeFacts
    /// The facts that runs were decided by; nil before the first time.
    public var decided: ChangeFacts?
    /// What is known of each of its labels, by name.
    public var labels: [String: LabelMark]

    public init(
        name: String, facts: ChangeFacts, decided: ChangeFacts? = nil, labels: [String: LabelMark] = [:]
    ) {
        (self.name, self.facts, self.decided, self.labels) = (name, facts, decided, labels)
    }
}

/// What is known of a label of a change, from the moment at which it is there.
public struct LabelMark: Sendable, Equatable, Codable {
    /// The head at which the change was without the label and then had it; nil if it moved meanwhile, or had the label when
    /// the forge first told about it.
    public var head: String?
    /// The head that was put in line because of the label.
    public var done: String?

    public init(head: String? = nil, done: String? = nil) { (self.head, self.done) = (head, done) }

    /// The marks of a change's labels when its facts are replaced.
    package static func marks(_ marks: [String: LabelMark], old: ChangeFacts?, new: ChangeFacts, isBaseline: Bool)
        -> [String: LabelMark]
    {
        Dictionary(
            new.labels.map { label in
                if let mark = marks[label] { return (label, mark) }
                // What was labelled before the connection is no request.
                guard let old else { return (label, LabelMark(done: isBaseline ? new.head : nil)) }
                let isSeen = old.head == new.head && !old.labels.contains(label)
                return (label, LabelMark(head: isSeen ? new.head : nil))
            }, uniquingKeysWith: { first, _ in first })
    }
}

/// How far a forge's list of changes was read.
public struct ForgeCursor: Sendable, Equatable {
    /// The time of the newest entry, by the forge's clock.
    public var seen: Date
    /// What names the answer that was read last.
    public var etag: String?

    public init(seen: Date, etag: String?) { (self.seen, self.etag) = (seen, etag) }
}

/// Somebody at a forge who pushed.
public struct ForgePusher: Sendable, Equatable {
    public var login: String
    public var id: Int?

    public init(login: String, id: Int?) { (self.login, self.id) = (login, id) }
}

/// What is new after facts were stored.
public struct ForgeChangeNews: Sendable, Equatable {
    /// Changes about which runs are to be decided.
    public var undecided: [String] = []
    /// Changes whose newest commit has another pusher, or one who may do something else.
    public var withOtherPusher: [String] = []

    public init() {}
}

/// A command that was carried out or refused.
public struct ForgeOrderRecord: Sendable, Equatable {
    /// The same for each repetition of the same order.
    public var key: String
    /// The number of the change; nil for a button.
    public var change: Int?
    public var by: String
    public var isObeyed: Bool
    /// What was answered; may quote foreign text.
    public var text: String

    public init(key: String, change: Int?, by: String, isObeyed: Bool, text: String) {
        self.key = key
        self.change = change
        self.by = by
        self.isObeyed = isObeyed
        self.text = text
    }
}
