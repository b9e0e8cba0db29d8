import Testing

@testable import pipectl

/// What `landed` takes for a range.
@Suite struct RevisionRangeTests {
    @Test(arguments: [
        ("v1.0..v1.1", "v1.0", "v1.1"), ("2.10.0..2.11.0", "2.10.0", "2.11.0"), ("main~1..main", "main~1", "main"),
        ("refs/tags/v1.0..refs/tags/v1.1", "refs/tags/v1.0", "refs/tags/v1.1"), ("v1.0..", "v1.0", "HEAD"),
        ("..v1.0", "HEAD", "v1.0"),
    ])
    func twoDotsPartTheEnds(text: String, old: String, new: String) throws {
        let range = try RevisionRange(text)
        #expect(range.old == old && range.new == new)
    }

    @Test(arguments: ["v1.0", "refs/tags/2.10.0", "HEAD"]) func `one revision means its whole history`(text: String)
        throws
    {
        let range = try RevisionRange(text)
        #expect(range.old == nil && range.new == text)
    }

    @Test(arguments: ["v1.0...v1.1", "a..b..c", "..", "...", ""]) func `an invalid range is refused`(text: String) {
        #expect(throws: CommandEnd.self) { try RevisionRange(text) }
    }
}
