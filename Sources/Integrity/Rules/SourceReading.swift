/// The tests on both sides of a change, with what could not be read.
struct SourceReading {
    var old: [TestShape] = []
    var new: [TestShape] = []
    var oldHelpers: [SwiftFile] = []
    var newHelpers: [SwiftFile] = []
    var unreadable: [Breach] = []
    /// Files of the target's side that could be read: only of those it is known what is gone.
    private(set) var failedPaths: Set<String> = []
    private let deadline: ContinuousClock.Instant
    private var bytes = 0

    init(deadline: ContinuousClock.Instant) { self.deadline = deadline }

    mutating func read(_ files: [ChangedSource]) {
        for file in files where TestPaths.isTest(file.path) || TestPaths.isTest(file.oldPath ?? "") {
            let oldPath = file.oldPath ?? file.path
            let oldFile = tests(oldPath, file.old)
            let newFile = tests(file.path, file.new)
            switch (oldFile, newFile) {
            case (.failure(let problem), .failure):
                // It was no better before: whoever let that in knows of it. What is in it can't be compared.
                report(file.path, "can't be read, on the target neither", problem)
            case (.success(let before), .failure(let problem)):
                // Its tests are not gone, they can't be seen.
                report(file.path, "can't be read; on the target it has \(before.tests.count) tests", problem)
            case (.failure(let problem), .success): report(oldPath, "can't be read on the target", problem)
            case (.success(let before), .success(let after)):
                old += before.tests
                new += after.tests
                if let before = before.swift { oldHelpers.append(before) }
                if let after = after.swift { newHelpers.append(after) }
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
        case .unreadable: return .failure(Unreadable(message: "it is no regular file with a name in UTF-8"))
        case .tooLarge(let count):
            return .failure(Unreadable(message: "\(count) bytes; more than \(ChangedSource.byteLimit) are not read"))
        case .bytes(let content):
            guard TestPaths.isTest(path) else { return .success(Reading()) }
            bytes += content.count
            guard content.count <= ChangedSource.byteLimit else {
                return .failure(
                    Unreadable(message: "\(content.count) bytes; more than \(ChangedSource.byteLimit) are not read"))
            }
            guard bytes <= IntegrityCheck.byteLimit, ContinuousClock.now < deadline else {
                return .failure(Unreadable(message: "the change is too large to be read in the time there is"))
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
