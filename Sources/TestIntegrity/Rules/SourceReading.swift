/// A Swift file of the change that could be read.
struct SwiftFile: Sendable {
    var path: String
    var facts: SwiftFileFacts
}

/// The tests on both sides of a change, with what could not be read.
struct SourceReading {
    var old: [TestShape] = []
    var new: [TestShape] = []
    var oldHelpers: [SwiftFile] = []
    var newHelpers: [SwiftFile] = []
    var unreadable: [Breach] = []
    /// The Swift files that could be read, of tests and of other code.
    private(set) var outlines: [ShadowedNames.File] = []
    private let reader: any SwiftSourceReader
    private let deadline: ContinuousClock.Instant
    private var bytes = 0
    private var sources: [SwiftSource] = []

    init(_ reader: any SwiftSourceReader, deadline: ContinuousClock.Instant) {
        self.reader = reader
        self.deadline = deadline
    }

    var oldOutlines: [SwiftFileFacts] { outlines.compactMap(\.old) }
    var newOutlines: [SwiftFileFacts] { outlines.compactMap(\.new) }

    /// One side of a file, before the reader has answered.
    private enum Side {
        case known(Reading)
        case unreadable(UnreadableSource)
        /// The index of its source in the question to the reader.
        case asked(Int)
    }

    private struct Reading {
        var tests: [TestShape] = []
        var facts: SwiftFileFacts?
    }

    /// One file, on both sides.
    private struct Pair {
        var path: String
        var oldPath: String
        var old: Side
        var new: Side
    }

    /// Reads the files of the change, with one question to the reader for all of them.
    mutating func read(_ files: [ChangedSource]) async {
        let tests = files.filter { TestPaths.isTest($0.path) || TestPaths.isTest($0.oldPath ?? "") }.map { file in
            let oldPath = file.oldPath ?? file.path
            return Pair(
                path: file.path, oldPath: oldPath, old: testSide(oldPath, file.old),
                new: testSide(file.path, file.new))
        }
        let others = files.filter { TestPaths.isSwiftSource($0.path) }.map { file in
            Pair(path: file.path, oldPath: file.path, old: outlineSide(file.old), new: outlineSide(file.new))
        }
        let results = sources.isEmpty ? [] : await reader.read(sources, before: deadline)
        for pair in tests { take(pair, results) }
        for pair in others { takeOutline(pair, results) }
    }

    private mutating func take(_ pair: Pair, _ results: [Result<SwiftFileFacts, UnreadableSource>]) {
        switch (Self.reading(pair.old, pair.oldPath, results), Self.reading(pair.new, pair.path, results)) {
        case (.failure(let problem), .failure):
            // The file was unreadable before the change as well. Nothing in it can be compared.
            report(pair.path, "can't be read, here and on the target", problem)
        case (.success(let before), .failure(let problem)):
            // Its tests may still exist: they just can't be seen.
            report(pair.path, "can't be read; on the target it has \(before.tests.count) tests", problem)
        case (.failure(let problem), .success): report(pair.oldPath, "can't be read on the target", problem)
        case (.success(let before), .success(let after)):
            old += before.tests
            new += after.tests
            if let facts = before.facts { oldHelpers.append(SwiftFile(path: pair.oldPath, facts: facts)) }
            if let facts = after.facts { newHelpers.append(SwiftFile(path: pair.path, facts: facts)) }
            outlines.append(ShadowedNames.File(path: pair.path, old: before.facts, new: after.facts))
        }
    }

    /// Notes the declarations of a file outside of the tests.
    private mutating func takeOutline(_ pair: Pair, _ results: [Result<SwiftFileFacts, UnreadableSource>]) {
        switch (Self.reading(pair.old, pair.path, results), Self.reading(pair.new, pair.path, results)) {
        case (.success(let before), .success(let after)):
            guard before.facts != nil || after.facts != nil else { return }
            outlines.append(ShadowedNames.File(path: pair.path, old: before.facts, new: after.facts))
        case (.failure(let problem), _), (_, .failure(let problem)):
            report(pair.path, "can't be searched for names that tests use", problem)
        }
    }

    private static func reading(
        _ side: Side, _ path: String, _ results: [Result<SwiftFileFacts, UnreadableSource>]
    ) -> Result<Reading, UnreadableSource> {
        switch side {
        case .known(let reading): return .success(reading)
        case .unreadable(let problem): return .failure(problem)
        case .asked(let place):
            guard results.indices.contains(place) else {
                return .failure(UnreadableSource("the reader did not answer"))
            }
            return results[place].map { facts in
                var facts = facts
                for index in facts.tests.indices { facts.tests[index].file = path }
                return Reading(tests: facts.tests, facts: facts)
            }
        }
    }

    // MARK: What is asked

    private mutating func outlineSide(_ content: ChangedSource.Content) -> Side {
        if case .bytes(let bytes) = content, !TestWords.areIn(bytes) { return .known(Reading()) }
        return side(of: content, .outline)
    }

    private mutating func testSide(_ path: String, _ content: ChangedSource.Content) -> Side {
        if case .bytes = content, !TestPaths.isTest(path) { return .known(Reading()) }
        if TestPaths.isSwift(path) { return side(of: content, .tests) }
        // pipectl itself reads other languages, line by line.
        let side = side(of: content, nil)
        guard case .known = side, case .bytes(let bytes) = content else { return side }
        return .known(Reading(tests: LineTests.tests(path: path, bytes: bytes)))
    }

    /// - Parameter scope: What to ask the reader for; nil if it need not read the file.
    private mutating func side(of content: ChangedSource.Content, _ scope: SwiftSource.Scope?) -> Side {
        switch content {
        case .missing: return .known(Reading())
        case .unreadable: return .unreadable(UnreadableSource("it is not a regular file with a name in UTF-8"))
        case .tooLarge(let count):
            return .unreadable(UnreadableSource("\(count) bytes; at most \(ChangedSource.byteLimit) are read"))
        case .bytes(let content):
            bytes += content.count
            guard content.count <= ChangedSource.byteLimit else {
                return .unreadable(
                    UnreadableSource("\(content.count) bytes; at most \(ChangedSource.byteLimit) are read"))
            }
            guard bytes <= IntegrityCheck.byteLimit, ContinuousClock.now < deadline else {
                return .unreadable(UnreadableSource("the change is too large to be read in time"))
            }
            guard let scope else { return .known(Reading()) }
            sources.append(SwiftSource(scope, content))
            return .asked(sources.count - 1)
        }
    }

    private mutating func report(_ path: String, _ what: String, _ problem: UnreadableSource) {
        unreadable.append(
            Breach(
                .unreadable, .unclear, message: "\(path) \(what): \(problem.message)", file: path, line: problem.line))
    }
}

/// A Swift file that has none of these words can't shadow a name that tests use.
enum TestWords {
    private static let all = ["XCT", "macro", "withKnownIssue", "confirmation", "invokeTest", "defaultTestSuite"].map {
        Array($0.utf8)
    }

    static func areIn(_ bytes: [UInt8]) -> Bool {
        var isFirst = [Bool](repeating: false, count: 256)
        for word in all { isFirst[Int(word[0])] = true }
        return bytes.indices.contains { place in
            isFirst[Int(bytes[place])] && all.contains { bytes[place...].starts(with: $0) }
        }
    }
}
