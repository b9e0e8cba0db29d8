/// The batches that a queue tests now, each on top of those before it.
struct QueueLine: Equatable {
    struct Batch: Equatable {
        /// The entries below the batch, in order.
        var base: [Int]
        var entries: [Int]

        var stack: [Int] { base + entries }
    }

    /// An entry that fails on top of `base`. The batches after it are formed without it. If `base` is empty, the
    /// failure is final; otherwise the entry is tested again after the entries of `base` have landed or left.
    struct Suspect: Equatable {
        var base: [Int]
        var entry: Int
    }

    var batches: [Batch] = []
    var suspects: [Suspect] = []

    /// Forms the batches.
    ///
    /// A batch that is known to fail is halved. If its first half passes, the failure must be in the second half, which
    /// is halved again without a test.
    ///
    /// - Parameters:
    ///   - entries: Ids in the order in which they land.
    ///   - isWhole: Whether a stack ends with a batch for which runs were started, so that no entry may join it.
    ///   - failure: Why a stack fails; nil if it does not fail or has no result yet.
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
