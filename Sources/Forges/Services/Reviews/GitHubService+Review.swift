import ForgeConnection
import Diagnostics
import Foundation

/// Source: https://docs.github.com/en/rest/pulls/reviews and https://docs.github.com/en/rest/pulls/comments
extension GitHubService {
    private struct Review: Decodable {
        var id: Int
        var body: String?
    }

    func findRemarks(_ change: Int, marks: [String: String]) async throws -> [String: SaidRemark] {
        var said: [String: SaidRemark] = [:]
        let pull = "\(root)/pulls/\(change)"
        // The oldest comment with the mark is pipectl's own.
        for comment in try await session.pages("\(pull)/comments", of: ForgeComment.self).sorted(by: { $0.id < $1.id })
        {
            guard let (fingerprint, remark) = comment.remark(marks), said[fingerprint] == nil else { continue }
            said[fingerprint] = remark
        }
        for review in try await session.pages("\(pull)/reviews", of: Review.self) {
            for line in (review.body ?? "").split(separator: "\n") {
                guard let fingerprint = marks[String(line)], said[fingerprint] == nil else { continue }
                said[fingerprint] = SaidRemark()
            }
        }
        return said
    }

    func say(_ remarks: [ReviewState.Remark], of state: ReviewState) async throws -> [String: SaidRemark] {
        var said: [String: SaidRemark] = [:]
        var rest = remarks[...]
        while !rest.isEmpty {
            let (batch, others) = RemarkText.batch(rest)
            rest = others
            do {
                said.merge(try await review(Array(batch), of: state)) { _, made in made }
            } catch let error as ForgeError where error.code == .refused && batch.contains(where: { $0.place != nil }) {
                // GitHub refused a line that the diff does not show, so all remarks become part of the review's text.
                let unplaced = batch.map { remark in
                    var remark = remark
                    (remark.place, remark.replacement) = (nil, nil)
                    return remark
                }
                said.merge(try await review(unplaced, of: state)) { _, made in made }
            }
        }
        return said
    }

    private func review(_ remarks: [ReviewState.Remark], of state: ReviewState) async throws -> [String: SaidRemark] {
        struct Body: Encodable {
            var commitId: String
            var event = "COMMENT"
            var body: String
            var comments: [Comment]
            struct Comment: Encodable {
                var path: String
                var line: Int
                var side = "RIGHT"
                var startLine: Int?
                var startSide: String?
                var body: String
            }
        }
        let texts = RemarkText(mark: session.mark, state: state)
        let comments = remarks.compactMap { remark in
            remark.place.map { place in
                let isLong = remark.linesBefore > 0
                return Body.Comment(
                    path: place.path, line: place.line, startLine: isLong ? place.line - remark.linesBefore : nil,
                    startSide: isLong ? "RIGHT" : nil, body: texts.open(remark, suggestion: "suggestion"))
            }
        }
        let unplaced = remarks.filter { $0.place == nil }.map { texts.open($0, suggestion: nil) }
        let count = remarks.count
        let head = "The review of `\(state.commit.prefix(10))` has \(count) new finding\(count == 1 ? "" : "s")."
        let made = try await session.send(
            .send(
                .post, "\(root)/pulls/\(state.change)/reviews",
                Body(
                    commitId: state.commit, body: ([head] + unplaced).joined(separator: "\n\n"), comments: comments))
        ).decode(Review.self)
        var said: [String: SaidRemark] = [:]
        for remark in remarks { said[remark.fingerprint] = SaidRemark() }
        guard !comments.isEmpty else { return said }
        let marks = Dictionary(
            remarks.map { (session.mark.text(of: $0, change: state.change), $0.fingerprint) },
            uniquingKeysWith: { one, _ in one })
        let path = "\(root)/pulls/\(state.change)/reviews/\(made.id)/comments"
        for comment in try await session.pages(path, of: ForgeComment.self) {
            if let (fingerprint, remark) = comment.remark(marks) { said[fingerprint] = remark }
        }
        return said
    }

    func settle(_ remark: ReviewState.Remark, _ said: SaidRemark, of state: ReviewState) async throws {
        struct Body: Encodable { var body: String }
        guard let id = said.id else { return }
        let texts = RemarkText(mark: session.mark, state: state)
        let body = remark.isSettled ? texts.settled(remark) : texts.open(remark, suggestion: "suggestion")
        _ = try await session.send(.send(.patch, "\(root)/pulls/comments/\(id)", Body(body: body)))
    }
}
