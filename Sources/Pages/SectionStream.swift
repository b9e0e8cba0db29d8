import Foundation

/// The sections of a live page as they change.
struct SectionStream: PageStream {
    let page: PageRequest
    let live: LivePages

    func pieces() -> any PagePieces { SectionPieces(follower: live.follower(of: page)) }
}

/// Says that as many follow pages as may, and when a browser should try again.
struct FullStream: PageStream {
    func pieces() -> any PagePieces { Pieces() }

    private struct Pieces: PagePieces {
        private var isOver = false

        mutating func next() async throws -> [UInt8]? {
            defer { isOver = true }
            return isOver ? nil : Array("retry: 15000\n: as many follow as may\n\n".utf8)
        }
    }
}

struct SectionPieces: PagePieces {
    private let follower: LivePages.Follower
    private var isNew = true

    fileprivate init(follower: LivePages.Follower) { self.follower = follower }

    mutating func next() async throws -> [UInt8]? {
        guard !isNew else {
            isNew = false
            return Self.beginning
        }
        let events = try await follower.next()
        return events?.isEmpty == true ? Self.nothing : events
    }
}
