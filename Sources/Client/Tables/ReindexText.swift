package import Archive

/// What came of rebuilding the index, for people.
package enum ReindexText {
    package static func line(_ outcome: ReindexOutcome) -> String {
        let unread = outcome.problems.count
        return "added \(Count.text(outcome.restored, "run"))"
            + (outcome.known > 0 ? ", had \(Count.text(outcome.known, "run")) already" : "")
            + (unread > 0 ? ", could not read \(Count.text(unread, "run"))" : "")
    }
}
