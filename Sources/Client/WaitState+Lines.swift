import Control
package import Foundation

extension WaitState {
    /// One line for each run that is waited for, or one that says why there is none yet.
    ///
    /// - Parameter countsDown: Whether the time that is left and the running steps are included, which change all the time.
    package func lines(at now: Date, countsDown: Bool) -> [String] {
        if let unseen { return ["\(subject): \(unseen)"] }
        return runs.prefix(20).map { run in
            var text = "run \(run.id) \(run.workflow), \(run.subject): \(run.inWords(at: now))"
            if countsDown, let current = run.current?.first { text += ": \(current)" }
            return text
        }
    }
}
