import Foundation
import TestBasics

#if canImport(FoundationXML)
    import FoundationXML
#endif

/// Markdown as GitHub's own parser reads it, with all its extensions.
final class MarkdownTree {
    final class Node {
        let kind: String
        let attributes: [String: String]
        var text = ""
        var children: [Node] = []

        init(_ kind: String, _ attributes: [String: String]) { (self.kind, self.attributes) = (kind, attributes) }

        var all: [Node] { [self] + children.flatMap(\.all) }
        /// What is read as text, without code, which stands for itself.
        var prose: String {
            switch kind {
            case "text": text
            case "code", "code_block", "html_block", "html_inline": "\u{FFFC}"
            case "softbreak", "linebreak": "\n"
            default: children.map(\.prose).joined()
            }
        }
    }

    struct Unreadable: Error { var why: String }

    let document: Node

    /// The parser is a program (package cmark-gfm), which `script/bootstrap` installs.
    init(_ markdown: String) throws {
        var command = ["cmark-gfm", "--to", "xml", "--unsafe"]
        for name in ["table", "autolink", "strikethrough", "tasklist", "footnotes"] { command += ["-e", name] }
        let ended = try CommandRunner(environment: ProcessInfo.processInfo.environment)
            .waitForEnd(of: command, input: markdown)
        guard ended.code == 0 else {
            throw Unreadable(why: "cmark-gfm ended with \(ended.code) (script/bootstrap installs it): \(ended.errors)")
        }
        let builder = Builder()
        let parser = XMLParser(data: Data(ended.output.utf8))
        parser.delegate = builder
        // A control character, and a footnote, make XML that no reader takes.
        guard parser.parse(), let document = builder.root.children.first else {
            throw Unreadable(why: "the parser's answer is no XML: \(parser.parserError.map { "\($0)" } ?? "")")
        }
        self.document = document
    }

    /// How often each kind of node is there, with the language of code blocks.
    var counts: [String: Int] {
        document.all.reduce(into: [:]) { counts, node in
            let info = node.kind == "code_block" ? " \(node.attributes["info"] ?? "")" : ""
            counts[node.kind + info, default: 0] += 1
        }
    }

    /// The cells of each row of all tables.
    var cells: [Int] {
        document.all.filter { $0.kind == "table_row" }.map { row in row.children.count { $0.kind == "table_cell" } }
    }

    private final class Builder: NSObject, XMLParserDelegate {
        let root = Node("root", [:])
        private var open: [Node] = []

        func parser(
            _ parser: XMLParser, didStartElement name: String, namespaceURI: String?, qualifiedName: String?,
            attributes: [String: String]
        ) {
            let node = Node(name, attributes)
            (open.last ?? root).children.append(node)
            open.append(node)
        }

        func parser(
            _ parser: XMLParser, didEndElement name: String, namespaceURI: String?, qualifiedName: String?
        ) {
            if !open.isEmpty { open.removeLast() }
        }

        func parser(_ parser: XMLParser, foundCharacters text: String) { open.last?.text += text }
    }
}

/// What a forge does with text beside Markdown.
enum ForgeSyntax {
    /// Text outside of code that a forge makes a link or an order of: mentions, issues, merge requests, addresses, math,
    /// HTML. Written after the documentation of GitHub, GitLab and Gitea.
    static func triggers(in prose: String) -> [String] {
        let rules: [(String, Regex<Substring>)] = [
            ("mention", #/@/#), ("issue", #/[#!&][0-9]/#), ("issue", #/(?i)\bgh-[0-9]/#), ("address", #/:\/\//#),
            ("address", #/(?i)\bwww\./#), ("HTML", #/</#), ("link", #/\]\(/#), ("math", #/\$/#), ("label", #/~/#),
        ]
        return rules.filter { prose.contains($0.1) }.map(\.0)
    }

    /// Commands of GitLab, which it looks for before it reads Markdown, and outside of fences of three only.
    static func quickActions(in markdown: String) -> [String] {
        let outside = markdown.replacing(#/(?ms)^```.+?\n```$/#, with: "")
        return outside.matches(of: #/(?m)^\/[a-z_]+/#).map { String($0.0) }
    }

    /// Characters that hide or reorder what follows, or that a terminal obeys.
    static func hidden(in text: String) -> [Unicode.Scalar] {
        text.unicodeScalars.filter { scalar in
            switch scalar.value {
            case 0x0A, 0x09: false
            case 0..<0x20, 0x7F..<0xA0, 0x200B, 0x200E, 0x200F, 0x202A...0x202E, 0x2060...0x2069, 0xFEFF: true
            default: false
            }
        }
    }
}
