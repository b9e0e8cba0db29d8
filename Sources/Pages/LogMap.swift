import ForeignText

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// Where the lines of a log are, and what was looked for in them: one pass over the log, a piece at a time.
struct LogMap: Sendable {
    /// What is looked for in a log.
    struct Question: Sendable {
        /// Lines that contain it are counted, and the first ones kept, in upper or lower case; nil for none.
        var text: String?
        /// Texts of the first failure, the best one first.
        var failure: [String] = []
    }

    struct Line: Sendable, Equatable {
        var number: Int
        /// At most ``shownBytes`` of it.
        var bytes: [UInt8]
    }

    /// The most lines that are kept of those that contain a text.
    static let mostFound = 200
    private static let shownBytes = 400
    /// Lines between two whose offsets are kept.
    private static let stride = 256

    /// The number of lines; the last one may have no end.
    private(set) var lines = 0
    /// The bytes that were read.
    private(set) var size = 0
    /// The first byte that there is no more, and where the log goes on; nil if it is whole.
    private(set) var lost: (start: Int, end: Int)?
    /// How many lines contain the text, and the first of them.
    private(set) var count = 0
    private(set) var found: [Line] = []
    /// The line of the first failure.
    private(set) var failure: Int?
    /// The offsets of the lines 1, 257, 513, ….
    private var marks: [Int] = [0]
    private var failureRank = Int.max
    private var isAtStart = true

    /// Reads a log to the end that it has now.
    init(_ content: LogContent, _ question: Question) async throws {
        let size = content.size
        let wanted = question.text.map { Array($0.lowercased().utf8) } ?? []
        let failures = question.failure.map { Array($0.utf8) }.filter { !$0.isEmpty }
        var rest: [UInt8] = []
        var place = 0
        while place < size {
            try Task.checkCancellation()
            let (start, bytes) = try await content.read(from: place, atMost: size - place)
            if start > place, lost == nil { lost = (place, start) }
            // Lines behind what is gone have no numbers.
            guard start == place, !bytes.isEmpty else { break }
            place += bytes.count
            let buffer = rest + bytes
            let whole = buffer.lastIndex(of: 0x0A).map { $0 + 1 } ?? 0
            // A line that is longer than a piece is searched in parts.
            let end = whole == 0 && buffer.count >= LogContent.mostBytes ? buffer.count : whole
            let piece = Array(buffer[..<end])
            search(piece, wanted, failures)
            take(piece, at: place - buffer.count)
            rest = Array(buffer[end...])
        }
        search(rest, wanted, failures)
        take(rest, at: place - rest.count)
        self.size = place
        if !isAtStart { lines += 1 }
    }

    /// Counts the lines of a piece that begins at `offset`.
    private mutating func take(_ piece: [UInt8], at offset: Int) {
        guard !piece.isEmpty else { return }
        piece.withUnsafeBufferPointer { bytes in
            guard let base = bytes.baseAddress else { return }
            var start = 0
            while start < bytes.count, let end = memchr(base + start, 0x0A, bytes.count - start) {
                start = UnsafeRawPointer(end) - UnsafeRawPointer(base) + 1
                lines += 1
                if lines.isMultiple(of: Self.stride) { marks.append(offset + start) }
            }
            isAtStart = start == bytes.count
        }
    }

    private mutating func search(_ piece: [UInt8], _ wanted: [UInt8], _ failures: [[UInt8]]) {
        if !wanted.isEmpty {
            var lower = piece
            for place in lower.indices where lower[place] &- 0x41 < 26 { lower[place] |= 0x20 }
            var next = 0
            while let place = Self.place(of: wanted, in: lower, from: next) {
                let line = Self.line(around: place, in: piece)
                count += 1
                if found.count < Self.mostFound {
                    let number = lines + 1 + piece[..<line.lowerBound].count { $0 == 0x0A }
                    found.append(Line(number: number, bytes: Array(piece[line].prefix(Self.shownBytes))))
                }
                next = line.upperBound + 1
            }
        }
        for (rank, text) in failures.prefix(min(failures.count, failureRank)).enumerated() {
            guard let place = Self.place(of: text, in: piece, from: 0) else { continue }
            (failure, failureRank) = (lines + 1 + piece[..<place].count { $0 == 0x0A }, rank)
            break
        }
    }

    private static func place(of text: [UInt8], in bytes: [UInt8], from start: Int) -> Int? {
        bytes.withUnsafeBytes { bytes in text.withUnsafeBytes { bytes.offset(of: $0, from: start) } }
    }

    private static func line(around place: Int, in bytes: [UInt8]) -> Range<Int> {
        let start = bytes[..<place].lastIndex(of: 0x0A).map { $0 + 1 } ?? 0
        return start..<(bytes[place...].firstIndex(of: 0x0A) ?? bytes.count)
    }

    /// The offset of a line, from 1; the end of the log for one behind the last.
    func offset(ofLine number: Int, in content: LogContent) async throws -> Int {
        guard number > 1 else { return 0 }
        guard number <= lines else { return size }
        var (line, place) = (
            (number - 1) / Self.stride * Self.stride + 1, marks[min((number - 1) / Self.stride, marks.count - 1)]
        )
        while line < number, place < size {
            let (_, bytes) = try await content.read(from: place, atMost: min(64 << 10, size - place))
            if bytes.isEmpty { return place }
            var end = 0
            while line < number, let found = bytes[end...].firstIndex(of: 0x0A) {
                (line, end) = (line + 1, found + 1)
            }
            place += line == number ? end : bytes.count
        }
        return place
    }

    /// The line that a byte is in.
    func line(at offset: Int, in content: LogContent) async throws -> Int {
        let mark = max((marks.firstIndex { $0 > offset } ?? marks.count) - 1, 0)
        var (line, place) = (mark * Self.stride + 1, marks[mark])
        while place < min(offset, size) {
            let (_, bytes) = try await content.read(from: place, atMost: min(64 << 10, offset - place))
            if bytes.isEmpty { break }
            line += bytes.count { $0 == 0x0A }
            place += bytes.count
        }
        return line
    }
}
