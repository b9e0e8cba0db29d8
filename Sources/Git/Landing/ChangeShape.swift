import Foundation

/// A change that is not in the target by ancestry: its own commits, where it forked off, and what it does.
struct ChangeShape {
    var change: ChangeHead
    /// The head's commits that the target lacks, parents before children.
    let own: [Commit]
    /// Where its history meets the target's: one commit, or several after merges in both directions.
    var bases: [TargetHistory.Node]
    /// From the base to the head, one for each of ``bases``; none where nobody of its authors landed anything.
    var deltas: [TreeDelta] = []
    /// The own commits that do something: merges of the target are not work.
    let work: [Commit]
    /// Who wrote them, and their titles.
    let makers: Makers

    init(change: ChangeHead, own: [Commit], bases: [TargetHistory.Node]) {
        (self.change, self.own, self.bases) = (change, own, bases)
        work = own.filter { $0.parents.count < 2 }
        var makers = Makers()
        for commit in work { makers.add(Maker(commit)) }
        self.makers = makers
    }
}

/// Who wrote a commit, and its title.
struct Maker {
    var email: String
    var name: String
    var title: String

    init(_ commit: Commit) {
        (email, name, title) = (commit.author.email.lowercased(), commit.author.name, commit.summary)
    }
}

/// The authors and titles of some commits.
struct Makers {
    private var emails: Set<String> = []
    private var names: Set<String> = []
    private var titles: Set<String> = []

    var isEmpty: Bool { titles.isEmpty }

    mutating func add(_ maker: Maker) {
        emails.insert(maker.email)
        names.insert(maker.name)
        titles.insert(maker.title)
    }

    /// Whether one of the commits has this author or title.
    func share(_ maker: Maker) -> Bool {
        emails.contains(maker.email) || names.contains(maker.name) || titles.contains(maker.title)
    }

    func sharesAny(with other: Makers) -> Bool {
        !emails.isDisjoint(with: other.emails) || !names.isDisjoint(with: other.names)
            || !titles.isDisjoint(with: other.titles)
    }
}

/// The change that a landing commit's message names, as forges write it.
enum NamedChange {
    /// "Merge pull request #12 from …", "Title (#12)", or "See merge request group/project!12" in the body.
    static func number(in message: String) -> Int? {
        let lines = message.split(whereSeparator: \.isNewline)
        guard let summary = lines.first(where: { !$0.allSatisfy(\.isWhitespace) }) else { return nil }
        let merge = "Merge pull request #"
        if summary.hasPrefix(merge) { return Int(summary.dropFirst(merge.count).prefix(while: \.isNumber)) }
        if let open = summary.range(of: "(#", options: .backwards) {
            let digits = summary[open.upperBound...].prefix(while: \.isNumber)
            let isLast =
                summary[digits.endIndex...].hasPrefix(")") && (summary.hasSuffix(")") || summary.contains(") from "))
            if isLast, let number = Int(digits) { return number }
        }
        guard let line = lines.last(where: { $0.hasPrefix("See merge request ") }) else { return nil }
        return line.split(separator: "!").last.flatMap { Int($0) }
    }

    /// The number in a change's name: 12 for "12", "#12", "refs/pull/12/head"; `nil` without exactly one.
    static func number(of name: String) -> Int? {
        let runs = name.split { !$0.isNumber }
        return runs.count == 1 ? Int(runs[0]) : nil
    }
}
