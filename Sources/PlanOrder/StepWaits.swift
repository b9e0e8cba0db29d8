/// What the steps of a run still wait for: each for its needs, and the last ones for all ordinary steps.
struct StepWaits {
    /// The number of each step's needs that have not ended.
    private var openNeeds: [Int]
    private var openOrdinary: Int

    init(_ links: StepLinks, ordinary: Int) {
        openNeeds = links.needs.map(\.count)
        openOrdinary = ordinary
    }

    var isOrdinaryDone: Bool { openOrdinary == 0 }

    /// Counts the end of a step that `step` needs; whether it was the last of its needs.
    mutating func needEnded(of step: Int) -> Bool {
        openNeeds[step] -= 1
        return openNeeds[step] == 0
    }

    /// Counts the end of an ordinary step; whether it was the last one.
    mutating func ordinaryEnded() -> Bool {
        openOrdinary -= 1
        return isOrdinaryDone
    }
}
