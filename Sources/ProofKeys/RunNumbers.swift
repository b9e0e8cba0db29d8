import Pipeline

/// Variables that have a different value in each run, so that no proof can cover them.
enum RunNumbers {
    /// Variables of the run. They are in no key, so a provable step is not given them.
    static let names: Set<String> = ["PIPECTL_RUN", "PIPECTL_RUN_ATTEMPT"]

    /// A step whose own text names one of these has no key. Longer names come first, because the reason quotes the
    /// first match.
    static let inText = ["PIPECTL_RUN_ATTEMPT", "PIPECTL_RUN", StepVariable.attempt]

    /// Ids and times of commits, which differ for each push of the same tree.
    static let ofEachPush: Set<String> = [
        "PIPECTL_COMMIT", "PIPECTL_HEAD", "PIPECTL_REF", "PIPECTL_TARGET_COMMIT", "SOURCE_DATE_EPOCH",
    ]
}
