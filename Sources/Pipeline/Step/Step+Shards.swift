/// Tests of one step that run in several parts at the same time.
extension Step {
    /// Divides the tests of the step among `count` steps that run at the same time, and makes one report of them:
    /// `unit tests (1 of 4)` and so on.
    ///
    /// The command says which tests a part runs. It has its number, from 1, in `PIPECTL_SHARD` and the number of parts
    /// in `PIPECTL_SHARDS`, which many test runners take:
    ///
    /// ```swift
    /// Step("tests", run: "cargo nextest run --profile ci --partition count:$PIPECTL_SHARD/$PIPECTL_SHARDS")
    ///     .shards(4)
    /// ```
    ///
    /// Write the files of results and artifacts with `$PIPECTL_SHARD` in their path, also in
    /// `.testResults(.junit("results-$PIPECTL_SHARD.xml"))`, since the parts share a workspace.
    public func shards(_ count: Int) -> Step {
        var copy = self
        copy.shardCount = count
        return copy
    }
}
