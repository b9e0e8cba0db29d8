/// Tests of one step that run in several parts at the same time.
extension Step {
    /// Divides the tests of the step among `count` steps that run at the same time, and makes one report of them:
    /// `unit tests (1 of 4)` and so on.
    ///
    /// The command finds out which tests a part runs. It has its number, from 1, in `PIPECTL_SHARD` and the number of parts
    /// in `PIPECTL_SHARDS`, which many test runners take:
    ///
    /// ```swift
    /// Step("tests", run: "cargo nextest run --profile ci --partition count:$PIPECTL_SHARD/$PIPECTL_SHARDS")
    ///     .shards(4)
    /// ```
    ///
    /// Write the files of results and artifacts with `$PIPECTL_SHARD` in their path, also in
    /// `.testResults(.junit("results-$PIPECTL_SHARD.xml"))`, since parts may share a workspace.
    public func shards(_ count: Int) -> Step {
        var copy = self
        copy.division = Division(count: count)
        return copy
    }

    /// Divides the tests that a file lists among `count` steps that run at the same time, so that all of them take about
    /// the same time.
    ///
    /// How long tests take is known from the last runs of the step. A new test counts as the median of the others. Each
    /// part finds its tests in the file that `PIPECTL_TESTS_FILE` names, one a line, as they are in `list`:
    ///
    /// ```swift
    /// let list = Step("list tests", run: "pytest --collect-only -q | grep :: > tests.txt")
    /// Step("tests", needs: list, run: "pytest @$PIPECTL_TESTS_FILE --junitxml=results-$PIPECTL_SHARD.xml")
    ///     .testResults(.junit("results-$PIPECTL_SHARD.xml"))
    ///     .shards(4, of: "tests.txt")
    /// ```
    ///
    /// A line is the name of a test, or that of a file, class or suite, which counts as long as all its tests. Each line
    /// is in exactly one part. A part without tests passes and runs nothing. The parts are never proved by an earlier
    /// run, and `rerun --failed` runs all of them again, because the next run divides the list anew.
    ///
    /// - Parameters:
    ///   - count: The number of parts.
    ///   - list: A file that a step before has written, relative to the workspace.
    public func shards(_ count: Int, of list: String) -> Step {
        var copy = self
        copy.division = Division(count: count, list: list)
        return copy
    }
}
