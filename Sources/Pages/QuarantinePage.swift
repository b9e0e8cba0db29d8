import Control
import Foundation
import PageMarkup
import Pipeline
import Reports
import Results
import Store

/// Offers the quarantine of a test as a patch of `workflows/`. It changes nothing: the patch lands as any change does.
struct QuarantinePage: Sendable {
    let host: PagesHost
    let definition: @Sendable (_ repository: String) async throws -> [String: String]
    var today: @Sendable () -> Date = { Date() }

    /// Days that a quarantine is offered for.
    private static let days = 30

    func page(_ request: PageRequest) async throws -> Page {
        guard let name = request.value("name") else { throw PageProblem(.badRequest, "the test's name is missing") }
        let suite = request.query["suite"] ?? ""
        var filter = TestFilter()
        (filter.repository, filter.workflow) = (request.value("repository"), request.value("workflow"))
        guard let newest = try await host.index.testHistory(suite: suite, name: name, filter).first else {
            throw PageProblem(.notFound, "no run has this test")
        }
        let run = try await host.run(newest.run).summary
        let id = suite.isEmpty ? name : "\(suite)/\(name)"
        let until =
            request.value("until") ?? today().addingTimeInterval(Double(Self.days) * 86_400).iso8601Day
        let quarantine = Quarantine(test: id, until: until, reason: request.value("reason") ?? "it fails now and then")
        let files = try await definition(run.repository)
        var html: HTML = "<form class=\"filter\" method=\"get\" action=\"/tests/quarantine\">\n"
        for (name, value) in [
            ("suite", suite), ("name", name), ("repository", run.repository), ("workflow", run.workflow),
        ] {
            html += "<input type=\"hidden\" name=\"\(name)\" value=\"\(value)\">"
        }
        html += """
            <label>last day <input name="until" value="\(until)" pattern="[0-9]{4}-[0-9]{2}-[0-9]{2}"></label>
            <label>why, and what is done about it <input name="reason" value="\(quarantine.reason)"></label>
            <button>Show</button></form>

            """
        html += Self.offer(QuarantinePatch(quarantine, workflow: run.workflow), files, workflow: run.workflow)
        var page = Page(
            "Quarantine of \(id)", command: "git apply quarantine.patch",
            [.init("patch", "Patch of workflows/ of \(run.repository)", html)])
        page.isLive = false
        return page
    }

    private static func offer(_ patch: QuarantinePatch, _ files: [String: String], workflow: String) -> HTML {
        guard let text = patch.text(in: files) else {
            return """
                <p>Where "\(workflow)" is declared in <code>workflows/</code>, add at its end:</p>
                <pre class="log" tabindex="0">\(text: patch.line)</pre>

                """
        }
        return """
            <p>Save this as <code>quarantine.patch</code>, apply it with <code class="all">git apply quarantine.patch</code>, \
            and push it as a change. Nothing is changed until it lands; failures of the test are reported meanwhile.</p>
            <pre class="log all" tabindex="0">\(text: text)</pre>

            """
    }
}

/// A patch that adds `.quarantine(…)` to the declaration of a workflow.
struct QuarantinePatch {
    let workflow: String
    /// The modifier as it is written.
    let line: String

    init(_ quarantine: Quarantine, workflow: String) {
        self.workflow = workflow
        line =
            ".quarantine(\(Self.literal(quarantine.test)), until: \(Self.literal(quarantine.until)), "
            + "because: \(Self.literal(quarantine.reason)))"
    }

    /// A Swift literal of plain ASCII: a test's name is foreign text, and must neither end the literal nor look like
    /// something else to whoever reads the patch.
    private static func literal(_ text: String) -> String {
        var literal = "\""
        for scalar in text.unicodeScalars.prefix(1_000) {
            switch scalar {
            case "\"", "\\": literal += "\\\(scalar)"
            case _ where (0x20..<0x7F).contains(scalar.value): literal.unicodeScalars.append(scalar)
            default: literal += "\\u{\(String(scalar.value, radix: 16))}"
            }
        }
        return literal + "\""
    }

    /// The patch in git's format; nil where the declaration is not found, or not found for certain.
    ///
    /// - Parameter files: The Swift files of `workflows/`, by their paths in the repository.
    func text(in files: [String: String]) -> String? {
        var found: [(path: String, text: String, end: Int, indent: Int)] = []
        for (path, text) in files {
            for place in SwiftOutline(text).ends(ofWorkflow: workflow) {
                found.append((path, text, place.end, place.indent))
            }
        }
        guard found.count == 1, let (path, text, end, indent) = found.first, !text.contains("\r"), text.hasSuffix("\n"),
            !path.utf8.contains(where: { $0 < 0x21 || $0 == 0x22 || $0 == 0x5C || $0 > 0x7E })
        else { return nil }
        let lines = text.dropLast().split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        let bytes = Array(text.utf8)
        let before = bytes[..<end].count { $0 == UInt8(ascii: "\n") }
        // What follows on the line of the declaration's end would be torn from it.
        let rest = bytes[end...].prefix { $0 != UInt8(ascii: "\n") }
        guard rest.allSatisfy({ $0 == UInt8(ascii: " ") }), before < lines.count else { return nil }
        let added = String(repeating: " ", count: indent) + line
        let first = max(0, before - 2)
        let context = (first...before).map { " " + lines[$0] } + ["+" + added]
        let after = lines[(before + 1)...].prefix(3).map { " " + $0 }
        let count = before - first + 1 + after.count
        return """
            diff --git a/\(path) b/\(path)
            --- a/\(path)
            +++ b/\(path)
            @@ -\(first + 1),\(count) +\(first + 1),\(count + 1) @@
            \((context + after).joined(separator: "\n"))

            """
    }
}

/// What must be known of Swift source to find the end of a declaration: brackets, literals and comments.
private struct SwiftOutline {
    /// Literals within interpolations of literals, and declarations of one workflow: more is no honest source.
    private static let (mostNested, mostFound, mostHashes) = (30, 10, 10)

    private let bytes: [UInt8]

    init(_ text: String) { bytes = Array(text.utf8) }

    /// Where the declaration of a workflow ends, and how far its modifiers are indented.
    func ends(ofWorkflow name: String) -> [(end: Int, indent: Int)] {
        let start = Array("Workflow(\"\(name)\"".utf8)
        var (place, found) = (0, [(end: Int, indent: Int)]())
        while place < bytes.count {
            if bytes[place...].starts(with: start), !isName(before: place) {
                guard let end = chain(after: place + 8) else { return [] }
                found.append((end, indent(from: place, to: end)))
            }
            guard found.count < Self.mostFound, let next = next(after: place) else { return [] }
            place = next
        }
        return found
    }

    private func isName(before place: Int) -> Bool { place > 0 && Self.isName(bytes[place - 1]) }

    private static func isName(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte) || byte == 0x5F
            || byte == UInt8(ascii: ".") || byte >= 0x80
    }

    /// The end of the arguments at `place`, of the closure after them, and of the modifiers.
    private func chain(after place: Int) -> Int? {
        guard var end = closed(place) else { return nil }
        while let next = skipSpace(end) {
            if bytes[next] == UInt8(ascii: "{") {
                guard let closed = closed(next) else { return nil }
                end = closed
            } else if bytes[next] == UInt8(ascii: ".") {
                var after = next + 1
                while after < bytes.count, Self.isName(bytes[after]) { after += 1 }
                guard after < bytes.count, bytes[after] == UInt8(ascii: "("), let closed = closed(after) else {
                    return nil
                }
                end = closed
            } else {
                break
            }
        }
        return end
    }

    /// The place after the bracket that closes the one at `place`.
    private func closed(_ place: Int, nested: Int = 0) -> Int? {
        var (depth, place) = (0, place)
        while place < bytes.count {
            let byte = bytes[place]
            if [UInt8(ascii: "("), UInt8(ascii: "{"), UInt8(ascii: "[")].contains(byte) { depth += 1 }
            if [UInt8(ascii: ")"), UInt8(ascii: "}"), UInt8(ascii: "]")].contains(byte) {
                depth -= 1
                if depth == 0 { return place + 1 }
            }
            guard let next = next(after: place, nested: nested) else { return nil }
            place = next
        }
        return nil
    }

    /// The first place from `place` on that is neither space nor comment; nil at the end.
    private func skipSpace(_ place: Int) -> Int? {
        var place = place
        while place < bytes.count {
            let isSpace = [0x20, 0x09, 0x0A].contains(bytes[place])
            let isComment = bytes[place] == UInt8(ascii: "/") && comment(at: place) != nil
            guard isSpace || isComment, let next = next(after: place) else { return place }
            place = next
        }
        return nil
    }

    /// The place after the byte, literal or comment at `place`; nil where a literal does not end.
    private func next(after place: Int, nested: Int = 0) -> Int? {
        if bytes[place] == UInt8(ascii: "/"), let end = comment(at: place) { return end }
        var hashes = 0
        while hashes < Self.mostHashes, place + hashes < bytes.count, bytes[place + hashes] == UInt8(ascii: "#") {
            hashes += 1
        }
        let quote = place + hashes
        guard quote < bytes.count, bytes[quote] == UInt8(ascii: "\"") else { return place + 1 }
        let isLong = bytes[quote...].starts(with: Array("\"\"\"".utf8))
        let close = Array((isLong ? "\"\"\"" : "\"").utf8) + Array(repeating: UInt8(ascii: "#"), count: hashes)
        let escape = [UInt8(ascii: "\\")] + Array(repeating: UInt8(ascii: "#"), count: hashes)
        var end = quote + (isLong ? 3 : 1)
        while end < bytes.count {
            if bytes[end...].starts(with: close) { return end + close.count }
            if bytes[end...].starts(with: escape) {
                end += escape.count
                // An interpolation may contain literals of its own.
                if end < bytes.count, bytes[end] == UInt8(ascii: "(") {
                    guard nested < Self.mostNested, let closed = closed(end, nested: nested + 1) else { return nil }
                    end = closed
                    continue
                }
            } else if !isLong, bytes[end] == 0x0A {
                return nil
            }
            end += 1
        }
        return nil
    }

    /// The end of the comment at `place`; nil where there is none.
    private func comment(at place: Int) -> Int? {
        let rest = bytes[place...]
        if rest.starts(with: Array("//".utf8)) { return rest.firstIndex(of: 0x0A) ?? bytes.count }
        guard rest.starts(with: Array("/*".utf8)) else { return nil }
        return rest.firstRange(of: Array("*/".utf8))?.upperBound ?? bytes.count
    }

    /// The indentation of the last modifier, else of the declaration's line and four more.
    private func indent(from start: Int, to end: Int) -> Int {
        func lineStart(_ place: Int) -> Int { (bytes[..<place].lastIndex(of: 0x0A) ?? -1) + 1 }
        func spaces(_ line: Int) -> Int { bytes[line...].prefix { $0 == 0x20 }.count }
        let last = lineStart(end)
        let indent = spaces(last)
        if last > start, last + indent < bytes.count, bytes[last + indent] == UInt8(ascii: ".") { return indent }
        return spaces(lineStart(start)) + 4
    }
}
