import ForgeConnection
import Foundation
import Reports
import TerminalText

/// What is known about a remark that was posted at a forge.
struct SaidRemark: Sendable, Equatable, Codable {
    /// The forge's id of the comment or discussion; nil if the remark is part of a review's text, which is never
    /// edited.
    var id: String?
    /// Whether the forge shows it as resolved.
    var isSettled = false
}

/// Posts and resolves remarks at one kind of forge.
protocol ForgeReviewService: Sendable {
    var session: ForgeSession { get }

    /// Finds remarks that were posted although the answer was lost.
    ///
    /// - Parameter marks: The fingerprint for each mark with which a remark may begin.
    func findRemarks(_ change: Int, marks: [String: String]) async throws -> [String: SaidRemark]

    /// Posts `remarks`, which are not at the forge yet.
    ///
    /// - Returns: The posted remarks by fingerprint, without those that a newer state will post.
    func say(_ remarks: [ReviewState.Remark], of state: ReviewState) async throws -> [String: SaidRemark]

    /// Shows a posted remark as resolved or as open, according to its state.
    func settle(_ remark: ReviewState.Remark, _ said: SaidRemark, of state: ReviewState) async throws
}

extension ForgeReviewService {
    /// Shows the result of a review: posts each remark once and resolves those that have been fixed.
    ///
    /// - Returns: The value to pass to the next call for the same change.
    func show(_ state: ReviewState, after past: ForgePast) async throws -> String? {
        var said =
            past.known.flatMap { try? JSONDecoder().decode([String: SaidRemark].self, from: Data($0.utf8)) } ?? [:]
        if past.isUncertain {
            let marks = state.remarks.map { (session.mark.text(of: $0, change: state.change), $0.fingerprint) }
            let found = try await findRemarks(
                state.change, marks: Dictionary(marks, uniquingKeysWith: { one, _ in one }))
            said.merge(found) { _, found in found }
        }
        let new = state.remarks.filter { !$0.isSettled && said[$0.fingerprint] == nil }
        if !new.isEmpty { said.merge(try await say(new, of: state)) { _, made in made } }
        for remark in state.remarks {
            guard let known = said[remark.fingerprint], known.isSettled != remark.isSettled, known.id != nil else {
                continue
            }
            do {
                try await settle(remark, known, of: state)
            } catch let error as ForgeError where error.code == .notFound {
                // A person deleted the remark, so it is not posted again.
            }
            said[remark.fingerprint]?.isSettled = remark.isSettled
        }
        guard !said.isEmpty else { return past.known }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys]
        return String(decoding: try encoder.encode(said), as: UTF8.self)
    }
}

/// Texts of remarks.
struct RemarkText: Sendable {
    /// Maximum size of one remark, in bytes. A larger one loses its last lines.
    static let limit = 12_000
    /// Maximum size of all remarks of one review, in bytes; then the maximum number of its remarks.
    static let reviewLimit = 50_000
    static let reviewCount = 50

    let mark: CommentMark
    let state: ReviewState

    /// The text of an open remark.
    ///
    /// - Parameter fence: What follows the backticks of a block that the forge offers to apply; nil if the forge has
    ///   none.
    func open(_ remark: ReviewState.Remark, suggestion fence: String?) -> String {
        var text = MarkdownText.cut(remark.text, bytes: Self.limit)
        if let replacement = remark.replacement, Self.mayOffer(replacement) {
            let ticks = String(repeating: "`", count: max(3, Self.longestTicks(replacement) + 1))
            text += "\n\n\(ticks)\(fence ?? "")\n\(replacement)\(replacement.hasSuffix("\n") ? "" : "\n")\(ticks)"
        }
        return "\(mark.text(of: remark, change: state.change))\n\(text)"
    }

    /// The text of a resolved remark. Its second line begins with ``settledSign``.
    func settled(_ remark: ReviewState.Remark) -> String {
        let text = MarkdownText.cut(remark.text, bytes: Self.limit)
        return "\(mark.text(of: remark, change: state.change))\n\(Self.settledSign) settled by "
            + "`\(state.commit.prefix(10))`\n\n\(text)"
    }

    /// Whether a forge shows a replacement as it is: without characters that nobody sees, and without a line that GitLab
    /// would carry out. It looks for commands before it reads Markdown, and knows only fences of three.
    static func mayOffer(_ replacement: String) -> Bool {
        let lines = replacement.replacing("\t", with: " ").split { $0 == "\n" || $0 == "\r\n" }.map(String.init)
        let hasCommand = replacement.contains("```") && lines.contains { $0.utf8.first == UInt8(ascii: "/") }
        return !hasCommand && lines.allSatisfy { TerminalText.name($0, limit: .max) == $0 }
    }

    static let settledSign = "✓"

    /// Whether a comment that begins with `mark` is shown as resolved.
    static func isSettled(_ body: String, mark: String) -> Bool {
        body.dropFirst(mark.count + 1).hasPrefix(settledSign)
    }

    /// The remarks that fit into one review, and the remaining ones.
    static func batch(_ remarks: ArraySlice<ReviewState.Remark>) -> (
        ArraySlice<ReviewState.Remark>, ArraySlice<ReviewState.Remark>
    ) {
        var bytes = 0
        var count = 0
        for remark in remarks {
            bytes += min(remark.text.utf8.count, limit) + (remark.replacement?.utf8.count ?? 0) + 200
            guard count == 0 || (count < reviewCount && bytes <= reviewLimit) else { break }
            count += 1
        }
        return (remarks.prefix(count), remarks.dropFirst(count))
    }

    private static func longestTicks(_ text: String) -> Int {
        text.split { $0 != "`" }.map(\.count).max() ?? 0
    }
}
