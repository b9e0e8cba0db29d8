package import Pipeline

extension KnownTest {
    /// As a person types it behind `--tests`: a Swift function without its parentheses, which a shell would read.
    package var typed: String { id.hasSuffix("()") ? String(id.dropLast(2)) : id }
}
