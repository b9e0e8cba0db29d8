/// How much of a result file is believed; what lies beyond is cut and a ``Finding`` says so.
///
/// | limit | unit | default |
/// | --- | --- | --- |
/// | ``fileBytes`` | bytes read from one file | 256 MiB |
/// | ``tests`` | tries kept from one file | 200,000 |
/// | ``fieldBytes`` | bytes of UTF-8 in `message` and in `details` | 64 KiB |
/// | ``nameBytes`` | bytes of UTF-8 in `suite`, `name` and `file` | 4 KiB |
/// | ``totalBytes`` | bytes of UTF-8 in all texts of one file's results | 64 MiB |
/// | ``depth`` | elements open at once | 64 |
public struct TestResultLimits: Sendable, Equatable {
    /// Bytes read from one file; the rest is not looked at.
    public var fileBytes: Int

    /// Tries kept from one file.
    public var tests: Int

    /// Bytes of UTF-8 in a message and in details; a longer text ends in a note of what is missing.
    public var fieldBytes: Int

    /// Bytes of UTF-8 in a suite, a test's name and a path; a longer one ends in a digest, so that names stay distinct.
    public var nameBytes: Int

    /// Bytes of UTF-8 in all texts of the results; once used up, further tests keep name and status only.
    public var totalBytes: Int

    /// Elements (or JSON values) open at once.
    public var depth: Int

    public init(
        fileBytes: Int = 256 << 20,
        tests: Int = 200_000,
        fieldBytes: Int = 64 << 10,
        nameBytes: Int = 4 << 10,
        totalBytes: Int = 64 << 20,
        depth: Int = 64
    ) {
        self.fileBytes = fileBytes
        self.tests = tests
        self.fieldBytes = fieldBytes
        self.nameBytes = nameBytes
        self.totalBytes = totalBytes
        self.depth = depth
    }
}
