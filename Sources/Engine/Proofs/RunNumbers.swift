import Pipeline

/// Variables that are another one in each run, and of which nothing can be proved.
enum RunNumbers {
    /// Of the run. They are in no key, so a provable step is not given them.
    static let names: Set<String> = ["PIPECTL_RUN", "PIPECTL_RUN_ATTEMPT"]

    /// A step whose own text names one has no key; the longer names first, for the sentence that says so.
    static let inText = ["PIPECTL_RUN_ATTEMPT", "PIPECTL_RUN", StepVariable.attempt]

    /// Ids and times of commits: another one at each push of the same tree.
    static let ofEachPush: Set<String> = [
        "PIPECTL_COMMIT", "PIPECTL_HEAD", "PIPECTL_REF", "PIPECTL_TARGET_COMMIT", "SOURCE_DATE_EPOCH",
    ]
}
