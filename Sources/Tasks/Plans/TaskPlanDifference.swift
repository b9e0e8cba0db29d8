package import Results

/// What changed from one version of a plan to the next, for people.
package struct TaskPlanDifference: Sendable, Equatable {
    /// One part of the plan.
    package struct Part: Sendable, Equatable {
        /// `Approach`.
        package var title: String
        package var lines: [Line]
    }

    package struct Line: Sendable, Equatable {
        package enum Kind: String, Sendable { case same = " ", removed = "-", added = "+" }

        package var kind: Kind
        package var text: String
    }

    package let from: Int
    package let to: Int
    /// The parts that changed.
    package let parts: [Part]

    package init(from old: TaskPlan, to new: TaskPlan) {
        (from, to) = (old.version, new.version)
        parts = [
            Part(title: "Summary", lines: Self.lines(Self.split(old.summary), Self.split(new.summary))),
            Part(title: "Approach", lines: Self.lines(Self.split(old.approach), Self.split(new.approach))),
            Part(title: "Files", lines: Self.lines(old.files, new.files)),
            Part(title: "Tests", lines: Self.lines(old.tests, new.tests)),
            Part(title: "Trade-offs", lines: Self.lines(Self.split(old.tradeoffs), Self.split(new.tradeoffs))),
        ].filter { part in part.lines.contains { $0.kind != .same } }
    }

    /// `Approach`, then its lines, each behind a space, `-` or `+`. The texts are as the agent wrote them.
    package var text: String {
        guard !parts.isEmpty else { return "plan \(to) says the same as plan \(from)\n" }
        return parts.map { part in
            "\(part.title)\n" + part.lines.map { "\($0.kind.rawValue) \($0.text)\n" }.joined()
        }.joined(separator: "\n")
    }

    private static func split(_ text: String) -> [String] {
        text.isEmpty ? [] : text.feedLines
    }

    /// Both texts as one, by the differences that the standard library finds.
    private static func lines(_ old: [String], _ new: [String]) -> [Line] {
        let difference = new.difference(from: old)
        let removed = Set(difference.removals.map(\.place))
        let added = Set(difference.insertions.map(\.place))
        var lines: [Line] = []
        var (before, after) = (0, 0)
        while before < old.count || after < new.count {
            if removed.contains(before) {
                lines.append(Line(kind: .removed, text: old[before]))
                before += 1
            } else if added.contains(after) {
                lines.append(Line(kind: .added, text: new[after]))
                after += 1
            } else {
                guard before < old.count, after < new.count else { break }
                lines.append(Line(kind: .same, text: new[after]))
                (before, after) = (before + 1, after + 1)
            }
        }
        return lines
    }
}

extension CollectionDifference.Change {
    fileprivate var place: Int {
        switch self {
        case .insert(let offset, _, _), .remove(let offset, _, _): offset
        }
    }
}
