/// Where an entry is in the queue, for people.
public struct QueuePosition: Sendable, Equatable {
    public enum Status: Sendable, Equatable {
        /// Not tested yet.
        case waiting
        case testing
        /// Its tests passed; it waits for the entries before it.
        case passed
        /// It failed on top of entries that have no final result yet.
        case suspected(QueueFailure)
        /// It is part of the landing that has been decided.
        case landing
    }

    public var entry: QueueEntry
    public var status: Status
    /// The changes below it, then those that are tested together with it, each in order.
    public var onTopOf: [String] = []
    public var with: [String] = []
    /// The runs that test it, or in which it failed.
    public var runs: [Int64] = []
    /// How many rounds of tests are needed until it lands if nothing fails; 0 if it has passed.
    public var rounds = 1
}

extension QueueState {
    /// All entries, in the order in which they land.
    public var positions: [QueuePosition] {
        let line = line
        let inLine = line.batches.reduce(into: Set<Int>()) { $0.formUnion($1.entries) }
        let perRound = max((rules?.batchSize ?? 1) * (rules?.depth ?? 1), 1)
        var behind = 0
        return entries.map { entry in
            var position = QueuePosition(entry: entry, status: .waiting)
            if let suspect = line.suspects.first(where: { $0.entry == entry.id }) {
                let known = result(of: suspect.base + [entry.id])
                if case .failed(let failure) = known?.status { position.status = .suspected(failure) }
                position.onTopOf = names(suspect.base)
                position.runs = Array((known?.runs ?? [:]).values).sorted()
                position.rounds = 2
            } else if let batch = line.batches.first(where: { $0.entries.contains(entry.id) }) {
                let known = result(of: batch.stack)
                position.onTopOf = names(batch.base)
                position.with = names(batch.entries.filter { $0 != entry.id })
                position.runs = Array((known?.runs ?? [:]).values).sorted()
                if known?.status == .passed { (position.status, position.rounds) = (.passed, 0) }
                if known?.status == .built, !position.runs.isEmpty { position.status = .testing }
            } else if !inLine.contains(entry.id) {
                position.rounds = 2 + behind / perRound
                behind += 1
            }
            if isLanding(entry.id) { (position.status, position.rounds) = (.landing, 0) }
            return position
        }
    }

    private func names(_ ids: [Int]) -> [String] { ids.compactMap { entry($0)?.change } }
}
