import Foundation
import Git

/// A change that is not in the target's history: its own commits, where it forked off, and its differences.
struct ChangeShape {
    var change: ChangeHead
    /// The head's commits that the target does not have, parents before children.
    let own: [OwnCommit]
    /// Where its history meets the target's: one commit, or several after merges in both directions.
    var bases: [TargetHistory.Node]
    /// The difference from each of ``bases`` to the head. Empty if none of its authors landed anything.
    var deltas: [TreeDelta] = []
    /// The own commits that change something. Merges of the target do not count.
    let work: [OwnCommit]
    /// The authors and titles of ``own``.
    let makers: Makers

    init(change: ChangeHead, own: [OwnCommit], bases: [TargetHistory.Node]) {
        (self.change, self.own, self.bases) = (change, own, bases)
        work = own.filter { $0.parents.count < 2 }
        var makers = Makers()
        for commit in work { makers.add(commit.maker) }
        self.makers = makers
    }
}

/// A commit's author and title as numbers, which are equal for equal texts, also in another process.
///
/// Different texts may have the same number, by chance or by intent. Nothing is gained by that, because anybody can
/// write another author's name into a commit, and the author only decides which commits are compared by content.
struct Maker: Equatable {
    var email: UInt64
    var name: UInt64
    var title: UInt64

    init(email: UInt64, name: UInt64, title: UInt64) { (self.email, self.name, self.title) = (email, name, title) }

    init(_ commit: Commit) {
        email = Self.number(1, commit.author.email.lowercased())
        name = Self.number(2, commit.author.name)
        title = Self.number(3, commit.summary)
    }

    /// FNV-1a.
    private static func number(_ kind: UInt8, _ text: String) -> UInt64 {
        let start = (0xCBF2_9CE4_8422_2325 ^ UInt64(kind)) &* 0x0000_0100_0000_01B3
        return text.utf8.reduce(start) { ($0 ^ UInt64($1)) &* 0x0000_0100_0000_01B3 }
    }
}

/// The authors and titles of several commits.
struct Makers {
    private var known: Set<UInt64> = []

    var isEmpty: Bool { known.isEmpty }

    mutating func add(_ maker: Maker) {
        known.insert(maker.email)
        known.insert(maker.name)
        known.insert(maker.title)
    }

    /// Whether one of the commits has this author or this title.
    func share(_ maker: Maker) -> Bool {
        known.contains(maker.email) || known.contains(maker.name) || known.contains(maker.title)
    }

    func sharesAny(with other: Makers) -> Bool { !known.isDisjoint(with: other.known) }
}

/// The change that the message of a landing commit names, in the forms that forges write.
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

    /// The number in a change's name: 12 for "12", "#12", "refs/pull/12/head"; nil unless there is exactly one.
    static func number(of name: String) -> Int? {
        let runs = name.split { !$0.isNumber }
        return runs.count == 1 ? Int(runs[0]) : nil
    }
}
