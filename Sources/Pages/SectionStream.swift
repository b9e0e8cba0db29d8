import Foundation

/// The sections of a live page as they change.
struct SectionStream: PageStream {
    let page: PageRequest
    let live: LivePages

    func pieces() -> any PagePieces { SectionPieces(follower: live.follower(of: page)) }
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
