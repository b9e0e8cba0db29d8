import ForgeConnection
import Diagnostics
import Foundation

/// Source: https://docs.gitlab.com/api/discussions/#merge-requests
extension GitLabService {
    private struct Discussion: Decodable {
        var id: String
        var notes: [Note]
        struct Note: Decodable {
            var id: Int
            var body: String
            var resolved: Bool?
        }
    }

    func findRemarks(_ change: Int, marks: [String: String]) async throws -> [String: SaidRemark] {
        var said: [String: (SaidRemark, note: Int)] = [:]
        let path = "\(root)/merge_requests/\(change)/discussions"
        for discussion in try await session.pages(path, of: Discussion.self) {
            guard let note = discussion.notes.first, let mark = note.body.split(separator: "\n").first,
                let fingerprint = marks[String(mark)], note.id < said[fingerprint]?.note ?? .max
            else { continue }
            said[fingerprint] = (SaidRemark(id: discussion.id, isSettled: note.resolved ?? false), note.id)
        }
        return said.mapValues(\.0)
    }

    func say(_ remarks: [ReviewState.Remark], of state: ReviewState) async throws -> [String: SaidRemark] {
        struct MergeRequest: Decodable {
            var diffRefs: Refs?
            struct Refs: Decodable { var baseSha: String, startSha: String, headSha: String }
        }
        let change = try await session.send(.get("\(root)/merge_requests/\(state.change)")).decode(MergeRequest.self)
        var said: [String: SaidRemark] = [:]
        for remark in remarks {
            var position: Position?
            // The lines of another head are not those that were reviewed.
            if let place = remark.place, let refs = change.diffRefs, refs.headSha == state.commit {
                position = Position(
                    baseSha: refs.baseSha, startSha: refs.startSha, headSha: refs.headSha, newPath: place.path,
                    oldPath: place.oldPath, newLine: place.line, oldLine: place.oldLine)
            }
            said[remark.fingerprint] = try await discuss(remark, position, of: state)
        }
        return said
    }

    private struct Position: Encodable {
        var positionType = "text"
        var baseSha: String
        var startSha: String
        var headSha: String
        var newPath: String
        var oldPath: String
        var newLine: Int
        /// Set only for lines that the change does not edit.
        var oldLine: Int?
    }

    private func discuss(
        _ remark: ReviewState.Remark, _ position: Position?, of state: ReviewState
    ) async throws -> SaidRemark {
        struct Body: Encodable {
            var body: String
            var position: Position?
        }
        let texts = RemarkText(mark: session.mark, state: state)
        let path = "\(root)/merge_requests/\(state.change)/discussions"
        let fence = position == nil ? nil : "suggestion:-\(remark.linesBefore)+0"
        do {
            let made = try await session.send(
                .send(.post, path, Body(body: texts.open(remark, suggestion: fence), position: position))
            ).decode(Discussion.self)
            return SaidRemark(id: made.id)
        } catch let error as ForgeError where error.code == .refused && position != nil {
            // GitLab does not show the line in the diff.
            return try await discuss(remark, nil, of: state)
        }
    }

    func settle(_ remark: ReviewState.Remark, _ said: SaidRemark, of state: ReviewState) async throws {
        struct Body: Encodable { var resolved: Bool }
        guard let id = said.id else { return }
        _ = try await session.send(
            .send(
                .put, "\(root)/merge_requests/\(state.change)/discussions/\(ForgeRequest.part(id))",
                Body(resolved: remark.isSettled)))
    }
}
