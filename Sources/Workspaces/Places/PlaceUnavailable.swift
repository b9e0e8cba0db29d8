/// Why a run can't have a place: there is no sandbox for it, or the machine is not what its steps need.
package struct PlaceUnavailable: Error, Sendable, CustomStringConvertible {
    /// The reason and what to do about it, as a sentence.
    package let reason: String
    package var description: String { reason }

    package init(reason: String) { self.reason = reason }
}
