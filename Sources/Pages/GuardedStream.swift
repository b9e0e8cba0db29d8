import Foundation
import PageMarkup

/// A stream for one visitor: it ends when they may not see it any more, and forms in it have their token.
struct GuardedStream: PageStream {
    let stream: any PageStream
    /// What stands for ``FormMark``; nil where no forms are in it.
    var formToken: String?
    /// How often the visitor is looked up.
    var pause = Duration.seconds(15)
    /// Whether it is a file: one that ends early must not look whole.
    var isFile = false
    /// Whether the visitor may still see it.
    let isValid: @Sendable () async -> Bool

    func pieces() -> any PagePieces { Pieces(inner: stream.pieces(), stream: self) }

    private struct Pieces: PagePieces {
        var inner: any PagePieces
        let stream: GuardedStream
        var checkedAt = ContinuousClock.now

        mutating func next() async throws -> [UInt8]? {
            guard let piece = try await inner.next() else { return nil }
            if checkedAt.duration(to: .now) >= stream.pause {
                guard await stream.isValid() else {
                    if stream.isFile { throw PageProblem(.unauthorized, "the login has ended") }
                    return nil
                }
                checkedAt = .now
            }
            return stream.formToken.map { FormMark.replaced(in: piece, by: $0) } ?? piece
        }
    }
}
