import Results
import Engine

/// Where steps wait for a person, and where the person's word reaches them.
///
/// What was asked and said is in the index; this only wakes who waits in this process.
actor ApprovalDesk {
    private struct Place: Hashable {
        var run: RunID
        var step: String
    }

    private var waiting: [Place: CheckedContinuation<Approval?, Never>] = [:]
    /// Words that came between the question and the wait.
    private var words: [Place: Approval] = [:]
    /// Runs of which a step was sent away because the box shuts down.
    private var sentAway: Set<RunID> = []
    private var isClosed = false

    /// The word on a step; nil when the signal comes first, the task is cancelled, or the desk closes.
    func word(on step: String, of run: RunID, stop: StopSignal) async -> Approval? {
        await withTaskGroup(of: Approval?.self) { group in
            group.addTask { await self.word(at: Place(run: run, step: step)) }
            group.addTask {
                _ = await stop.wait()
                return nil
            }
            defer { group.cancelAll() }
            return await group.next() ?? nil
        }
    }

    /// Passes a word on to the step, now or when it comes.
    func tell(_ approval: Approval, run: RunID) {
        guard let step = approval.step else { return }
        let place = Place(run: run, step: step)
        if let waiter = waiting.removeValue(forKey: place) {
            waiter.resume(returning: approval)
        } else {
            words[place] = approval
        }
    }

    /// Sends everybody away who waits, now and from now on: the box shuts down and nobody can be asked.
    func close() {
        isClosed = true
        for (place, waiter) in waiting {
            sentAway.insert(place.run)
            waiter.resume(returning: nil)
        }
        waiting = [:]
    }

    /// Forgets a run that has ended; returns whether a step of it was sent away.
    func leave(_ run: RunID) -> Bool {
        words = words.filter { $0.key.run != run }
        return sentAway.remove(run) != nil
    }

    private func word(at place: Place) async -> Approval? {
        if let word = words.removeValue(forKey: place) { return word }
        if isClosed {
            sentAway.insert(place.run)
            return nil
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                if Task.isCancelled { return continuation.resume(returning: nil) }
                waiting[place] = continuation
            }
        } onCancel: {
            Task { await self.giveUp(place) }
        }
    }

    private func giveUp(_ place: Place) { waiting.removeValue(forKey: place)?.resume(returning: nil) }
}
