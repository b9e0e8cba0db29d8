/// The batches that a queue tests now, each on top of those before it.
struct QueueLine: Equatable {
    struct Batch: Equatable {
        /// What it is tested on top of.
        var base: [Int]
        var entries: [Int]

        var stack: [Int] { base + entries }
    }

    /// An entry that fails on top of `base`, so that those behind it are formed without it. With an empty base this is
    /// final; else it is asked again once those before it are decided.
    struct Suspect: Equatable {
        var base: [Int]
        var entry: Int
    }

    var batches: [Batch] = []
    var suspects: [Suspect] = []

    /// Forms the batches.
    ///
    /// A batch that is known to fail is halved. It is known also for a part of the line that ends where a batch that
    /// failed ended: of a failed batch whose first half passes, the second half is split without a test.
    ///
    /// - Parameters:
    ///   - entries: Ids in the order in which they land.
    ///   - isWhole: Whether a stack ends with a batch that is tested already: nobody joins it.
    ///   - failure: Why a stack fails; nil where it does not, or is not known to.
    init(
        _ entries: [Int], batchSize: Int, depth: Int, isWhole: ([Int]) -> Bool, failure: ([Int]) -> QueueFailure?
    ) {
        var rest = entries[...]
        var stack: [Int] = []
        while batches.count < depth, let first = rest.first {
            guard failure(stack + [first]) == nil else {
                suspects.append(Suspect(base: stack, entry: first))
                rest.removeFirst()
                continue
            }
            var batch = [first]
            for entry in rest.dropFirst() where batch.count < batchSize && !isWhole(stack + batch) {
                if let reason = failure(stack + batch + [entry]) {
                    if reason.isVerdict { batch = Array(batch.prefix((batch.count + 1) / 2)) }
                    break
                }
                batch.append(entry)
            }
            batches.append(Batch(base: stack, entries: batch))
            stack += batch
            rest.removeFirst(batch.count)
        }
    }
}
