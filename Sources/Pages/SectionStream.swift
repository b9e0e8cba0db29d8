import Foundation

/// The sections of a live page as they change.
struct SectionStream: PageStream {
    let page: PageRequest
    let live: LivePages

    func pieces() -> any PagePieces { SectionPieces(follower: live.follower(of: page)) }
}

private struct SectionPieces: PagePieces {
    private struct SectionEvent: Encodable {
        var id: String
        var html: String
        /// The section before it.
        var after: String?
    }

    let follower: LivePages.Follower
    /// The version of each section that the reader has; nil before the first piece.
    private var sent: [String: Int]?
    private var isOver = false

    init(follower: LivePages.Follower) { self.follower = follower }

    mutating func next() async throws -> [UInt8]? {
        guard sent != nil else {
            sent = [:]
            return Self.beginning
        }
        guard !isOver else { return nil }
        guard let state = await follower.next() else {
            try Task.checkCancellation()
            return Self.nothing
        }
        return try events(state)
    }

    /// The events with what is new in a state.
    private mutating func events(_ state: LivePages.State) throws -> [UInt8] {
        var (events, sent) = ([UInt8](), sent ?? [:])
        var before: String?
        for section in state.sections {
            if sent[section.id] != section.version {
                let html = String(decoding: section.html, as: UTF8.self)
                let new = try JSONEncoder().encode(SectionEvent(id: section.id, html: html, after: before))
                events += Self.event("section", new, id: "\(state.version)")
                sent[section.id] = section.version
            }
            before = section.id
        }
        for gone in Set(sent.keys).subtracting(state.sections.map(\.id)).sorted() {
            events += Self.event("gone", Data(gone.utf8), id: "\(state.version)")
            sent[gone] = nil
        }
        if state.isOver { events += Self.event("over", Data(), id: "\(state.version)") }
        (self.sent, isOver) = (sent, state.isOver)
        return events
    }
}
