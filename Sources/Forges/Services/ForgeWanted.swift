import ForgeConnection
import Foundation

/// The content of an outbox row, as it is stored.
enum ForgeWanted: Sendable, Equatable, Codable {
    case check(CheckState)
    case comment(CommentState)
    case review(ReviewState)
    case answer(CommandAnswer)
    case scan(ScanState)
    case note(IssueNote)
    case text(ForgeChangeText)

    /// The item's name, unique in a repository. A later state of the same item replaces it.
    var thing: String {
        switch self {
        case .check(let state): "check \(state.workflow) \(state.commit)"
        case .comment(let state): "comment \(state.change)"
        case .review(let state): "review \(state.change)"
        case .scan(let scan): "scan \(scan.workflow) \(scan.commit) \(scan.step) \(scan.number)"
        case .text(let text): "text \(text.change)"
        case .note(let note): "task \(note.task) at issue \(note.issue)"
        case .answer(let answer): "answer \(answer.comment) at \(answer.change)"
        }
    }

    func json() throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys]
        encoder.dateEncodingStrategy = .millisecondsSince1970
        return String(decoding: try encoder.encode(self), as: UTF8.self)
    }

    init(json: String) throws {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .millisecondsSince1970
        do {
            self = try decoder.decode(ForgeWanted.self, from: Data(json.utf8))
        } catch {
            throw ForgeError(.refused, "this state was written by another version of pipectl and can't be read")
        }
    }
}
