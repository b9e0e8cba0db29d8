import Store
public import Results
import Foundation
import Reports

/// What concerns a change beside its runs.
public struct ChangeCircumstances: Sendable, Equatable, Codable {
    /// The open changes that it conflicts with.
    public var conflicts: [EarlyConflict]
    /// Its place in a merge queue; nil if it is in none.
    public var place: QueuePlace?

    public init(conflicts: [EarlyConflict] = [], place: QueuePlace? = nil) {
        (self.conflicts, self.place) = (conflicts, place)
    }

    var isEmpty: Bool { conflicts.isEmpty && place == nil }

    /// The same for equal circumstances, and nothing else; nil if there are none.
    var key: String? {
        guard !isEmpty else { return nil }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys]
        return (try? encoder.encode(self)).map { String(decoding: $0, as: UTF8.self) }
    }
}

/// The place of a change in the merge queue of a branch.
public struct QueuePlace: Sendable, Equatable, Codable {
    public var branch: String
    /// From 1 for the one that lands next.
    public var position: Int
    /// How many changes are in the queue.
    public var count: Int

    public init(branch: String, position: Int, count: Int) {
        (self.branch, self.position, self.count) = (branch, position, count)
    }
}

extension ChangeCircumstances {
    /// Conflicts and files that are named; the others are counted.
    private static let mostConflicts = 5
    private static let mostFiles = 5

    /// Markdown; empty if there is nothing to say. Names of changes and files are foreign text.
    var markdown: String {
        var text = ""
        if let place {
            text +=
                "- merge queue of \(MarkdownText.code(place.branch, limit: 200)): "
                + "place \(place.position) of \(place.count)\n"
        }
        guard !conflicts.isEmpty else { return text }
        text += "\n### Conflicts with other open changes\n\nWhichever lands second must be merged or rebased.\n\n"
        for conflict in conflicts.prefix(Self.mostConflicts) {
            let files = conflict.paths.prefix(Self.mostFiles).map { MarkdownText.code($0, limit: 200) }
            let more = conflict.paths.count - files.count
            text += "- change \(MarkdownText.code(conflict.other, limit: 100)): \(files.joined(separator: ", "))"
            text += more > 0 ? " and \(more) more\n" : "\n"
        }
        let more = conflicts.count - Self.mostConflicts
        if more > 0 { text += "- and \(more) more changes\n" }
        return text
    }
}
