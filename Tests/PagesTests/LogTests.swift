import Control
import Foundation
import Pipeline
import Reports
import Results
import Store
import Synchronization
import TestBasics
import TestSupport
import Testing

@testable import Pages

/// A step's output that a test writes, and how often it was read.
private final class Output: LogOutput {
    private struct State {
        var bytes: [UInt8] = []
        /// Bytes before it are gone.
        var oldest = 0
        var isOver = false
        var waiting: [Int: CheckedContinuation<Void, Never>] = [:]
        var next = 0
        var reads = 0
        var isGone = false
    }
    private let state = Mutex(State())

    var reads: Int { state.withLock { $0.reads } }
    var extent: (bytes: Int, isOver: Bool) { state.withLock { ($0.bytes.count, $0.isOver) } }

    func write(_ text: String, isOver: Bool = false) {
        let waiting = state.withLock { state in
            state.bytes += Array(text.utf8)
            state.isOver = isOver
            defer { state.waiting = [:] }
            return Array(state.waiting.values)
        }
        for waiter in waiting { waiter.resume() }
    }

    var isGone: Bool { state.withLock { $0.isGone } }

    /// Its run has ended, and its file is removed.
    func remove() { state.withLock { $0.isGone = true } }

    func forget(before offset: Int) { state.withLock { $0.oldest = offset } }

    func wait(beyond bytes: Int) async {
        let number = state.withLock { state in
            state.next += 1
            return state.next
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isReady = state.withLock { state in
                    if Task.isCancelled || state.isOver || state.bytes.count > bytes { return true }
                    state.waiting[number] = continuation
                    return false
                }
                if isReady { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.waiting.removeValue(forKey: number) }?.resume()
        }
    }

    func read(from offset: Int, atMost count: Int) async throws -> (start: Int, bytes: [UInt8]) {
        try state.withLock { state in
            state.reads += 1
            if state.isGone { throw PageProblem(.notFound, "the file is gone") }
            let start = offset < state.oldest ? state.oldest : offset
            return (start, Array(state.bytes.dropFirst(start).prefix(count)))
        }
    }
}

/// One who follows a log, and what was shown.
private struct Reader {
    var pieces: any PagePieces
    var html = ""
    var part = ""
    var last = ""
    var isOver = false

    init(_ source: LogSource, _ live: LiveLogs, from mark: LogLines.Mark = LogLines.Mark()) {
        pieces = LogStream(source: source, from: mark, live: live).pieces()
    }

    /// Takes one piece.
    mutating func take() async throws {
        guard let piece = try await pieces.next() else {
            isOver = true
            return
        }
        let text = String(decoding: piece, as: UTF8.self)
        for line in text.split(separator: "\n") {
            if line.hasPrefix("id: ") { last = String(line.dropFirst(4)) }
            if line.hasPrefix("data: {") {
                let event = try JSONDecoder().decode([String: String].self, from: Data(line.dropFirst(6).utf8))
                html += event["html"] ?? ""
                part = event["part"] ?? ""
            }
        }
    }

    mutating func take(until text: String) async throws {
        while !isOver, !html.contains(text) { try await take() }
        try #require(html.contains(text))
    }

    /// The numbers of the lines that were shown.
    var lines: [Int] { html.matches(of: /id="L(\d+)"/).compactMap { Int($0.output.1) } }
}

@Suite struct LiveLogTests {
    /// A step that writes to `output`, and what follows it.
    private func following(
        _ output: Output, archived: String = "", _ body: (LogSource, LiveLogs) async throws -> Void
    ) async throws {
        let summary = RunSummary(
            id: 1, repository: "alpha", workflow: "test", event: .merge, ref: "refs/heads/main", branch: "main",
            head: Sample.commit(1), state: .running, attempt: 1, createdAt: Sample.start)
        var live = LiveRun(
            id: 1, repository: "alpha", workflow: "test", subject: "main", phase: .running, startedAt: Sample.start,
            logs: "/nowhere")
        live.steps = [LiveRun.Step(record: StepRecord(name: "one", command: "x", status: .running))]
        live.steps[0].attempt = 1
        let detail = RunDetail(summary: summary, live: live, behind: nil, held: nil)
        var ended = detail
        ended.summary.state = .ended
        let host = PagesHost(
            answer: { [ended] _ in .run(output.isGone ? ended : detail) },
            document: { throw PageProblem(.notFound, "\($0)") },
            report: { throw PageProblem(.notFound, "\($0)") }, log: { _, _ in ReportLog(bytes: Array(archived.utf8)) },
            output: { _ in output }, news: { { try? await Task.sleep(for: .seconds(60)) } },
            index: try Store.Index.inMemory())
        let source = LogSource(
            run: 1, name: "one", step: 1, attempt: 1, file: "001-1.log", folder: "/nowhere", status: nil, host: host)
        let logs = LiveLogs()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await logs.run() }
            try await body(source, logs)
            group.cancelAll()
        }
    }

    @Test(.timeLimit(.minutes(1))) func `a hundred followers of a log cost the reads of one`() async throws {
        let output = Output()
        output.write("first\n")
        try await following(output) { source, logs in
            var readers = (0..<100).map { _ in Reader(source, logs) }
            for place in readers.indices { try await readers[place].take(until: "first") }
            for number in 0..<10 {
                output.write("line \(number).\n")
                for place in readers.indices { try await readers[place].take(until: "line \(number).") }
            }
            #expect(readers.allSatisfy { $0.lines == Array(1...11) })
            // Two looks for each piece: one with it, one that finds nothing more. A hundred readers of their own would
            // take a thousand.
            #expect(output.reads <= 40)
            #expect(logs.readers == 100)
        }
    }

    @Test(.timeLimit(.minutes(1))) func `a log that nobody follows is not read`() async throws {
        let output = Output()
        try await following(output) { source, logs in
            do {
                var reader = Reader(source, logs)
                output.write("a\n")
                try await reader.take(until: ">a<")
            }
            #expect(logs.readers == 0)
            output.write("b\n")
            try await eventually { !logs.isRead(source.key) }
            let reads = output.reads
            output.write("c\n")
            var reader = Reader(source, logs, from: LogLines.Mark(offset: 2, line: 2))
            try await reader.take(until: ">c<")
            #expect(output.reads > reads && reader.lines == [2, 3])
        }
    }

    @Test(.timeLimit(.minutes(1))) func `who connects again misses nothing and gets nothing twice`() async throws {
        let output = Output()
        try await following(output) { source, logs in
            var other = Reader(source, logs)
            var first = Reader(source, logs)
            output.write("one\ntwo\n")
            try await first.take(until: ">two<")
            let mark = try #require(LogLines.Mark(first.last))
            first = Reader(source, logs)
            output.write("three\n")
            try await other.take(until: ">three<")
            output.write("four\n", isOver: true)
            try await other.take(until: ">four<")
            var again = Reader(source, logs, from: mark)
            try await again.take(until: ">four<")
            #expect(again.lines == [3, 4])
            while !again.isOver { try await again.take() }
            // One that begins before everything that was kept reads the rest itself.
            var late = Reader(source, logs)
            while !late.isOver { try await late.take() }
            #expect(late.lines == [1, 2, 3, 4])
        }
    }

    @Test(.timeLimit(.minutes(1)), arguments: ["one\ntwo\nthree\n", "one\nthree\n"])
    func `the last lines come from the archive if the file is gone, but never from another place of it`(
        archived: String
    ) async throws {
        let output = Output()
        let printed = "one\ntwo\nthree\n"
        try await following(output, archived: archived) { source, logs in
            var reader = Reader(source, logs)
            output.write("one\n")
            try await reader.take(until: ">one<")
            output.remove()
            output.write("two\nthree\n", isOver: true)
            while !reader.isOver { try await reader.take() }
            #expect(reader.lines == (archived == printed ? [1, 2, 3] : [1]))
        }
    }

    @Test func `the log of an attempt is read to its end, also if its file goes to the archive meanwhile`() async throws
    {
        let folder = try TemporaryFolder()
        try folder.write("001-1.log", "one\ntwo\n".utf8)
        let output = Output()
        try await following(output, archived: "one\ntwo\nthree\n") { source, _ in
            let host = PagesHost(
                answer: source.host.answer, document: source.host.document, report: source.host.report,
                log: source.host.log, news: source.host.news, index: source.host.index)
            let ended = LogSource(
                run: 1, name: "one", step: 1, attempt: 1, file: "001-1.log", folder: folder.path, status: .passed,
                host: host)
            let opened = try #require(try await ended.content())
            try FileManager.default.removeItem(atPath: folder["001-1.log"])
            #expect(opened.size == 8)
            #expect(try await opened.read(from: 4).bytes == Array("two\n".utf8))
            #expect(try await ended.content() == nil, "the run goes on, so this attempt has printed nothing")
            output.remove()
            #expect(try await ended.content()?.size == 14)
        }
    }

    @Test(.timeLimit(.minutes(1))) func `a step that prints faster than a reader can take is shown with marks`()
        async throws
    {
        let output = Output()
        try await following(output) { source, logs in
            var quick = Reader(source, logs)
            var slow = Reader(source, logs)
            output.write("begin\n")
            try await quick.take(until: ">begin<")
            try await slow.take(until: ">begin<")
            // More than is kept for followers, in parts that are each sent.
            for round in 0..<40 {
                output.write(String(repeating: "\(round) \(String(repeating: "x", count: 990))\n", count: 64))
                output.write("round \(round).\n")
                try await quick.take(until: "round \(round).")
            }
            #expect(quick.lines == Array(1...(1 + 40 * 65)))
            try await slow.take(until: "round 39.")
            #expect(slow.html.contains("class=\"gap\"") && slow.lines.count < 2_000)
            #expect(slow.lines.last == 1 + 40 * 65)
            // Far more at once: parts are left out for all.
            output.write(String(repeating: String(repeating: "y", count: 999) + "\n", count: 5_000))
            output.write("end\n", isOver: true)
            try await quick.take(until: ">end<")
            #expect(quick.html.contains("class=\"gap\"") && quick.lines.last == 2 + 40 * 65 + 5_000)
        }
    }

    @Test(.timeLimit(.minutes(1))) func `lines behind bytes that are gone have no numbers`() async throws {
        let output = Output()
        try await following(output) { source, logs in
            output.write("one\n" + String(repeating: "z\n", count: 100) + "last\n")
            output.forget(before: 104)
            var reader = Reader(source, logs)
            try await reader.take(until: ">last<")
            #expect(reader.lines.isEmpty && reader.html.contains("class=\"gap\""))
            #expect(LogLines.Mark(reader.last)?.isCounted == false)
        }
    }

    @Test(.timeLimit(.minutes(1))) func `a line without an end is shown as it grows, and once`() async throws {
        let output = Output()
        try await following(output) { source, logs in
            var reader = Reader(source, logs)
            output.write("whole\n...")
            while !reader.part.contains("...") { try await reader.take() }
            output.write("...")
            while !reader.part.contains("......") { try await reader.take() }
            output.write(" done\n", isOver: true)
            try await reader.take(until: "...... done")
            #expect(reader.lines == [1, 2] && reader.part.isEmpty)
        }
    }

    @Test(.timeLimit(.minutes(1))) func `a line longer than a piece is cut`() async throws {
        let output = Output()
        try await following(output) { source, logs in
            var reader = Reader(source, logs)
            output.write(String(repeating: "w", count: 300_000) + "\nnext\n", isOver: true)
            try await reader.take(until: ">next<")
            #expect(reader.lines == [1, 2])
        }
    }
}

@Suite struct LogMapTests {
    private static func map(_ text: String, _ question: LogMap.Question = LogMap.Question()) async throws -> LogMap {
        try await LogMap(.bytes(Array(text.utf8)), question)
    }

    @Test func `lines are counted, also the last without an end`() async throws {
        #expect(try await Self.map("").lines == 0)
        #expect(try await Self.map("a\nb\n").lines == 2)
        #expect(try await Self.map("a\nb").lines == 2)
        #expect(try await Self.map("\n").lines == 1)
    }

    @Test func `a line is found by its number and its offset`() async throws {
        let text = (1...100_000).map { "line \($0)\n" }.joined()
        let content = LogContent.bytes(Array(text.utf8))
        let map = try await LogMap(content, LogMap.Question())
        #expect(map.lines == 100_000 && map.size == text.utf8.count)
        for number in [1, 2, 255, 256, 257, 258, 5_000, 99_999, 100_000] {
            let offset = try await map.offset(ofLine: number, in: content)
            let read = try await content.read(from: offset, atMost: 20)
            #expect(String(decoding: read.bytes, as: UTF8.self).hasPrefix("line \(number)\n"))
            #expect(try await map.line(at: offset, in: content) == number)
        }
        #expect(try await map.offset(ofLine: 100_001, in: content) == text.utf8.count)
    }

    @Test func `text is found in upper and lower case, across the pieces of a log`() async throws {
        let filler = String(repeating: String(repeating: "-", count: 99) + "\n", count: 30_000)
        let map = try await Self.map("Needle 1\n\(filler)a NEEDLE\n", LogMap.Question(text: "needle"))
        #expect(map.count == 2 && map.found.map(\.number) == [1, 30_002])
    }

    @Test func `the first failure is the line that the best of the texts is in`() async throws {
        let question = LogMap.Question(failure: ["main.c:3:", "expected"])
        #expect(try await Self.map("a\nexpected b\nmain.c:3: expected c\n", question).failure == 3)
        #expect(try await Self.map("a\nexpected b\n", question).failure == 2)
        #expect(try await Self.map("a\nb\n", question).failure == nil)
    }

    @Test(arguments: ["", "1", "1.x", "-1.1", "1.0", "a.b", "1.2.3", "99999999999999999999.1", "u", "1.1uu"])
    func `what is no mark is none`(text: String) { #expect(LogLines.Mark(text) == nil) }

    @Test(arguments: ["120.7", "120.7u"]) func `a mark is read as it is written`(text: String) {
        #expect(LogLines.Mark(text)?.description == text)
    }
}

@Suite struct LogFoldTests {
    private static func folds(_ text: String, important: [Int] = []) -> [LogFolds.Fold] {
        let bytes = Array(text.utf8)
        return LogFolds.folds(
            of: bytes.split(separator: 0x0A, omittingEmptySubsequences: false), important: important)
    }

    static let groups: [(String, [Range<Int>], [String])] = [
        ("a\n::group::Build\nb\n::endgroup::\nc", [1..<4], ["Build"]),
        ("##[group]Build\nb\n##[endgroup]\nc", [0..<3], ["Build"]),
        ("--- Build\nb\n--- Test\nc\nd", [0..<2, 2..<5], ["Build", "Test"]),
        (
            "section_start:1560896352:build[collapsed=true]\r\u{1B}[0KThe build\nb\n"
                + "section_end:1560896353:build\r\u{1B}[0K", [0..<3], ["The build"]
        ),
        ("travis_fold:start:build\r\u{1B}[0Kcc main.c\nb\ntravis_fold:end:build\r\u{1B}[0K", [0..<3], ["cc main.c"]),
        // A group that is never closed, one in another, an end without a start.
        ("::group::A\nb\nc", [0..<3], ["A"]),
        ("::group::A\n::group::B\nx\n::endgroup::\ny\n::endgroup::\nz", [0..<6], ["A"]),
        ("a\n::endgroup::\nb", [], []),
    ]

    @Test(arguments: groups) func `groups of known programs are passages`(
        text: String, lines: [Range<Int>], titles: [String]
    ) {
        let folds = Self.folds(text)
        #expect(folds.map(\.lines) == lines && folds.map(\.title) == titles)
    }

    @Test(arguments: ["--- a/main.c\n+++ b/main.c\n@@ -1 +1 @@", "--- FAIL: TestAdd (0.00s)\n  x", "--- \n--- ---\nx"])
    func `what only looks like a group is none`(text: String) { #expect(Self.folds(text).isEmpty) }

    @Test func `a passage with a failure is open`() {
        let text = "::group::A\nb\n::endgroup::\n::group::B\nc\n::endgroup::"
        #expect(Self.folds(text, important: [4]).map(\.isOpen) == [false, true])
        #expect(Self.folds("+++ Test\nb").map(\.isOpen) == [true])
    }

    @Test func `a long stretch without failures is a passage, the end and what is near a failure is not`() {
        let text = (0..<2_000).map { "line \($0)" }.joined(separator: "\n")
        #expect(Self.folds(text).map(\.lines) == [20..<1_900])
        #expect(Self.folds(text, important: [1_000]).map(\.lines) == [20..<980, 1_021..<1_900])
        #expect(Self.folds("a\nb\nc").isEmpty)
        // What is shown folded and what is not is all of it, in order.
        for important in [[0], [1_999], [10, 30, 500, 501, 1_899], Array(0..<2_000)] {
            var place = 0
            for fold in Self.folds(text, important: important) {
                #expect(fold.lines.lowerBound >= place && fold.lines.upperBound <= 2_000)
                #expect(!important.contains { fold.lines.contains($0) })
                place = fold.lines.upperBound
            }
        }
    }
}

@Suite struct StepGraphTests {
    private static func node(_ name: String, _ needs: [String] = []) -> StepGraphPicture.Node {
        StepGraphPicture.Node(name: name, needs: needs, status: .passed, note: "1 s", link: nil)
    }

    /// The left edge of a step's box.
    private static func column(_ name: String, _ html: String) -> Int? {
        guard let title = html.range(of: "<title>\(name): "),
            let edge = html[title.upperBound...].firstMatch(of: /<rect x="(\d+)"/)
        else { return nil }
        return Int(edge.output.1)
    }

    @Test func `a step is right of all that it needs, and lines that follow from others are left out`() {
        let html = StepGraphPicture([
            Self.node("d", ["c", "a"]), Self.node("a"), Self.node("b", ["a"]), Self.node("c", ["b"]),
        ]).html.text
        let columns = ["a", "b", "c", "d"].compactMap { Self.column($0, html) }
        #expect(columns.count == 4 && columns == columns.sorted() && Set(columns).count == 4)
        #expect(html.components(separatedBy: "<path").count - 1 == 3)
    }

    static let odd: [[(String, [String])]] = [
        [("a", ["b"]), ("b", ["a"])], [("a", ["a"])], [("a", ["gone"]), ("a", ["a"])], [],
    ]

    @Test(arguments: odd)
    func `a graph that is none is drawn, too`(nodes: [(String, [String])]) {
        let html = StepGraphPicture(nodes.map { Self.node($0, $1) }).html.text
        #expect(html.components(separatedBy: "<rect").count - 1 == nodes.count)
    }

    @Test(arguments: PagesTests.hostile) func `names of strangers are text`(name: String) {
        let html = StepGraphPicture([Self.node(name), Self.node("b", [name])]).html.text
        #expect(!html.contains("<script") && !html.contains("<img") && !html.contains("<svg/"))
        #expect(html.components(separatedBy: "<svg").count == 2)
    }

    @Test func `many steps are a table, and the page stays small`() {
        let many = (0..<2_000).map { Self.node("step \($0)", $0 > 0 ? ["step \($0 - 1)"] : []) }
        let html = StepGraphPicture(many).html
        #expect(!html.text.contains("<svg") && html.bytes.count < 100_000)
        #expect(StepGraphPicture(Array(many.prefix(80))).html.bytes.count < 80_000)
    }
}
