package import Foundation
package import Pipeline

/// A forge that merges changes, for targets to which nobody may push.
package protocol MergingForge: Sendable {
    /// Has the forge merge a change, if its head is the tested one. The same order may be given again.
    func merge(_ order: MergeOrder) async throws -> MergeAnswer

    /// What became of an order that may have been given before. It merges nothing.
    func outcome(of order: MergeOrder) async throws -> MergeAnswer

    /// Whether the repository is connected with a forge.
    func isConnected(_ repository: String) async -> Bool
}

/// What a forge is asked to merge.
package struct MergeOrder: Sendable, Equatable {
    /// The watched repository's name.
    package var repository: String
    /// The change's number at the forge.
    package var number: Int
    /// The head that was tested.
    package var head: String
    package var method: LandingMethod
    /// The message of the commit that was tested.
    package var message: String

    /// The number of a change at a forge; nil if its name is none.
    static func number(of change: String) -> Int? {
        guard change.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = Int(change), number > 0 else {
            return nil
        }
        return number
    }
}

/// What a forge says about a ``MergeOrder``.
package enum MergeAnswer: Sendable, Equatable {
    /// It is merged, as this commit.
    case merged(String)
    /// It is not merged. Only the outcome of an order says that.
    case open
    /// The change has another head by now.
    case headMoved
    /// It conflicts, is a draft, or is closed; the text says what.
    case notMergeable(String)
    /// The credential or the rules of the target don't allow it, or no forge is connected.
    case notAllowed(String)
    /// It is not known, or not possible now; not before `until`, if the forge said so.
    case later(String, until: Date?)
}

/// The forge can't say or do something now: the queue asks again later.
struct LandingPause: Error, CustomStringConvertible {
    var reason: String
    /// The earliest time for another request; nil if the forge gave none.
    var until: Date?
    var description: String { reason }
}
