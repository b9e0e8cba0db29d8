package import Pipeline

extension KnownTest {
    /// The name as it is typed after `--tests`: a Swift function without its parentheses, which a shell would
    /// interpret.
    package var typed: String { id.hasSuffix("()") ? String(id.dropLast(2)) : id }
}
