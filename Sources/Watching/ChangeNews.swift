import Results
import Store

/// What a connected forge says about the changes that one look concerns.
struct ChangeNews: Sendable {
    /// The newest facts of changes, by their names.
    var facts: [String: ChangeFacts] = [:]
    /// Changes that did not move, about which runs are to be decided by newer facts, with their refs.
    var undecided: [(ref: String, record: ForgeChangeRecord)] = []

    /// The facts by which a look decided about changes, by their names.
    func decided(in observation: RefObservation) -> [String: ChangeFacts] {
        let names = observation.changes.map(\.name) + undecided.map(\.record.name)
        return Dictionary(names.compactMap { name in facts[name].map { (name, $0) } }, uniquingKeysWith: { $1 })
    }
}
