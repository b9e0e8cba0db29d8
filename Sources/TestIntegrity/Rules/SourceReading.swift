/// The tests on both sides of a change, with what could not be read.
struct SourceReading {
    var old: [TestShape] = []
    var new: [TestShape] = []
    var oldHelpers: [SwiftFile] = []
    var newHelpers: [SwiftFile] = []
    var unreadable: [Breach] = []
    /// Files of the target's side that could be read: only of those it is known what is gone.
    private(set) var failedPaths: Set<String> = []
    /// The files of Swift that could be read, tests and others.
    private(set) var outlines: [ShadowedNames.File] = []
    private let deadline: ContinuousClock.Instant
    private var bytes = 0

    init(deadline: ContinuousClock.Instant) { self.deadline = deadline }

    var oldOutlines: [SwiftOutline] { outlines.compactMap(\.old) }
    var newOutlines: [SwiftOutline] { outlines.compactMap(\.new) }

    mutating func read(_ files: [ChangedSource]) {
        for file in files where TestPaths.isTest(file.path) || TestPaths.isTest(file.oldPath ?? "") {
            let oldPath = file.oldPath ?? file.path
            let oldFile = tests(oldPath, file.old)
            let newFile = tests(file.path, file.new)
            switch (oldFile, newFile) {
            case (.failure(let problem), .failure):
                // It was no better before: whoever let that in knows of it. What is in it can't be compared.
                report(file.path, "can't be read, here and on the target", problem)
            case (.success(let before), .failure(let problem)):
                // Its tests are not gone, they can't be seen.
                report(file.path, "can't be read; on the target it has \(before.tests.count) tests", problem)
            case (.failure(let problem), .success): report(oldPath, "can't be read on the target", problem)
            case (.success(let before), .success(let after)):
                old += before.tests
                new += after.tests
                if let before = before.swift { oldHelpers.append(before) }
                if let after = after.swift { newHelpers.append(after) }
                outlines.append(
                    ShadowedNames.File(path: file.path, old: before.swift?.outline, new: after.swift?.outline))
            }
        }
        for file in files where TestPaths.isSwiftSource(file.path) { readOutline(file) }
    }

    /// Reads what a file beside the tests declares, if a word in it may matter to them.
    private mutating func readOutline(_ file: ChangedSource) {
        do {
            let (old, new) = (try outline(file.old), try outline(file.new))
            if old != nil || new != nil {
                outlines.append(ShadowedNames.File(path: file.path, old: old, new: new))
            }
        } catch {
            report(file.path, "can't be searched for names that tests use", error)
        }
    }

    private mutating func outline(_ content: ChangedSource.Content) throws(Unreadable) -> SwiftOutline? {
        switch content {
        case .missing: return nil
        case .unreadable: throw Unreadable(message: "it is not a regular file with a name in UTF-8")
        case .tooLarge(let count):
            throw Unreadable(message: "\(count) bytes; at most \(ChangedSource.byteLimit) are read")
        case .bytes(let content):
            guard TestWords.areIn(content) else { return nil }
            bytes += content.count
            guard content.count <= ChangedSource.byteLimit, bytes <= IntegrityCheck.byteLimit,
                ContinuousClock.now < deadline
            else { throw Unreadable(message: "the change is too large to be read in time") }
            do { return SwiftOutline(try SwiftWords(content)) } catch {
                throw Unreadable(line: error.line, message: error.message)
            }
        }
    }

    private struct Reading {
        var tests: [TestShape] = []
        var swift: SwiftFile?
    }

    private struct Unreadable: Error {
        var line: Int?
        var message: String
    }

    private mutating func tests(_ path: String, _ content: ChangedSource.Content) -> Result<Reading, Unreadable> {
        switch content {
        case .missing: return .success(Reading())
        case .unreadable: return .failure(Unreadable(message: "it is not a regular file with a name in UTF-8"))
        case .tooLarge(let count):
            return .failure(Unreadable(message: "\(count) bytes; at most \(ChangedSource.byteLimit) are read"))
        case .bytes(let content):
            guard TestPaths.isTest(path) else { return .success(Reading()) }
            bytes += content.count
            guard content.count <= ChangedSource.byteLimit else {
                return .failure(
                    Unreadable(message: "\(content.count) bytes; at most \(ChangedSource.byteLimit) are read"))
            }
            guard bytes <= IntegrityCheck.byteLimit, ContinuousClock.now < deadline else {
                return .failure(Unreadable(message: "the change is too large to be read in time"))
            }
            guard TestPaths.isSwift(path) else {
                return .success(Reading(tests: LineTests.tests(path: path, bytes: content)))
            }
            do {
                let file = try SwiftFile(path: path, bytes: content)
                return .success(Reading(tests: file.tests, swift: file))
            } catch {
                return .failure(Unreadable(line: error.line, message: error.message))
            }
        }
    }

    private mutating func report(_ path: String, _ what: String, _ problem: Unreadable) {
        failedPaths.insert(path)
        unreadable.append(
            Breach(
                .unreadable, .unclear, message: "\(path) \(what): \(problem.message)", file: path, line: problem.line))
    }
}

/// Words without which a file of Swift can't stand in the way of tests.
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
