/// The most that is read of a result file. What exceeds a limit is cut, and a ``Finding`` says so.
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
    /// Bytes that are read of one file.
    public var fileBytes: Int

    /// Tries that are kept of one file.
    public var tests: Int

    /// Bytes of UTF-8 in a message and in details. A longer text ends with a note of what is missing.
    public var fieldBytes: Int

    /// Bytes of UTF-8 in a suite, a test's name and a path. A longer one ends with a digest, so that names stay
    /// distinct.
    public var nameBytes: Int

    /// Bytes of UTF-8 in all texts of the results. After that, further tests keep only their name and status.
    public var totalBytes: Int

    /// XML elements, or JSON values, that may be open at the same time.
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
