import ForeignText
public import Results

/// Reads test results from files that untrusted code wrote.
///
/// The content never makes it throw, and the cost is bounded by ``limits``: parts that are broken, too long or too deep
/// become a ``Finding``, and the parts before them are read. Only the given file is opened.
public struct TestResultReader: Sendable {
    /// The most that is read of a file.
    public var limits: TestResultLimits

    public init(limits: TestResultLimits = .init()) {
        self.limits = limits
    }

    /// The results in `bytes`. A broken file gives a finding and the results before the break.
    ///
    /// - Parameters:
    ///   - name: The file's name in findings.
    ///   - format: Nil: it is recognised by the content.
    public func read(_ bytes: [UInt8], named name: String, format: ResultFormat? = nil) -> TestResults {
        let pieces = Pieces(limit: limits.fileBytes) { offset, count in
            Array(bytes[min(offset, bytes.count)..<min(offset + count, bytes.count)])
        }
        return read(pieces, named: name, format: format)
    }

    /// The results in the regular file at `path`, which is read in pieces.
    ///
    /// The last component of `path` is not followed if it is a link. A caller that takes paths from untrusted code must
    /// check the folders above it. The call blocks on the disk: keep it off the cooperative pool.
    ///
    /// - Throws: ``TestResultFileError`` if the file can't be opened or read; never because of its content.
    public func read(file path: String, named name: String, format: ResultFormat? = nil) throws -> TestResults {
        let file = try ResultFile.open(path, named: name)
        return try withoutActuallyEscaping({ (_: Int, count: Int) throws in try file.read(count) }) { read in
            var failure: (any Error)?
            let pieces = Pieces(limit: limits.fileBytes) { offset, count in
                do { return try read(offset, count) } catch {
                    failure = error
                    return []
                }
            }
            let results = self.read(pieces, named: name, format: format)
            if let failure { throw failure }
            return results
        }
    }

    private func read(_ pieces: Pieces, named name: String, format: ResultFormat?) -> TestResults {
        let head = pieces.next()
        let (encoding, mark) = TextEncoding.detect(head)
        var decoder = TextDecoder(encoding)
        let first = decoder.decode(Array(head.dropFirst(mark)))
        guard !first.isEmpty else {
            return TestResults(findings: [
                Finding(
                    rule: "result-file", severity: .error, message: "\(name) is empty.", file: name,
                    suggestion: "The test process wrote nothing: check the step's log for a crash or a build error.")
            ])
        }
        var isFirst = true
        let source = ByteSource {
            if isFirst {
                isFirst = false
                return first
            }
            return decoder.decode(pieces.next())
        }
        var results = read(source, FileStart(first), named: name, format: format)
        if case .unknown(let label) = encoding {
            results.findings.append(
                Finding(
                    rule: "result-file", severity: .warning,
                    message: "\(name) has the unsupported encoding \(label.prefix(64)): it was read as UTF-8.",
                    file: name, line: 1, suggestion: "Let the test tool write UTF-8."))
        }
        if pieces.wasCut {
            results.findings.append(
                Finding(
                    rule: "result-file", severity: .error,
                    message: "\(name) is longer than \(limits.fileBytes) bytes: the rest was not read.",
                    file: name,
                    suggestion: "Print less in tests that pass, or write one result file per target."))
        }
        return results
    }

    private func read(
        _ source: ByteSource, _ start: @autoclosure () -> FileStart, named name: String, format: ResultFormat?
    ) -> TestResults {
        if let type = format.flatMap(ResultReadings.reading(named:)) {
            return read(source, as: type, named: name)
        }
        let start = start()
        guard let type = ResultReadings.reading(of: start) else {
            return TestResults(findings: [UnknownFormat.finding(start, named: name)])
        }
        return read(source, as: type, named: name)
    }

    private func read(_ source: ByteSource, as type: any ResultReading.Type, named name: String) -> TestResults {
        var reading = type.init(name: name, limits: limits)
        var results = reading.read(source)
        results.format = type.format
        return results
    }
}

/// A file in pieces of one size, up to a limit of bytes.
private final class Pieces {
    private let read: (_ offset: Int, _ count: Int) -> [UInt8]
    private let limit: Int
    private var offset = 0

    /// Whether the file is longer than the limit.
    private(set) var wasCut = false

    private static let size = 256 << 10

    init(limit: Int, read: @escaping (_ offset: Int, _ count: Int) -> [UInt8]) {
        self.limit = limit
        self.read = read
    }

    /// The next piece; an empty one is the end.
    func next() -> [UInt8] {
        let wanted = min(Self.size, limit - offset)
        guard wanted > 0 else {
            if !wasCut { wasCut = !read(offset, 1).isEmpty }
            return []
        }
        let piece = read(offset, wanted)
        offset += piece.count
        return piece
    }
}
