import Foundation
import TestBasics
import TestSupport

@testable import MCP
@testable import ProjectSetup

/// Messages of an agent's host, and handwritten files that are edited for it.
extension FuzzTarget {
    static let agents: [FuzzTarget] = [
        .pure(
            "mcp", words: ["\n", "\r\n", "[", "{\"jsonrpc\":\"2.0\","], isJSON: true, limit: 256 << 10, corpus: messages
        ) {
            bytes, random in
            try checkLines(bytes, &random)
            switch Message(line: bytes) {
            case .invalid(let error, let id): try hold(Server.refusal(error, id: id))
            case .request(let request):
                try demand(request.params.object != nil, "parameters that are no object")
                try hold(["jsonrpc": "2.0", "id": request.id.json, "result": request.params])
                _ = request.progressToken
            case .notification(_, let params): try hold(params)
            case .response: break
            }
            let text = String(decoding: bytes, as: UTF8.self)
            let budget = TextBudget(bytes: random.below(2_000))
            for cut in [budget.head(of: text, rest: "ask."), budget.tail(of: text, rest: "ask.")] {
                try demand(cut.text.utf8.count <= budget.bytes, "\(cut.text.utf8.count) of \(budget.bytes) bytes")
            }
        },
        .pure(
            "json-edit", words: ["//", "/*", "*/", ",", "\\", "\"mcpServers\":{", "\u{FEFF}"], limit: 64 << 10,
            corpus: settings
        ) {
            bytes, _ in
            try edited(bytes) { text throws(JSONEdit.Problem) in
                try JSONEdit.set("mcpServers", "pipectl", to: "{\n  \"command\": \"pipectl\"\n}", in: text)
            }
        },
        .pure(
            "toml-edit",
            words: ["[", "]", "[[", "\"\"\"", "'''", "\r\n", "=", "#", "[mcp_servers.pipectl]\n", "mcp_servers"],
            limit: 64 << 10, corpus: tables
        ) { bytes, _ in
            try edited(bytes) { text throws(JSONEdit.Problem) in
                try TOMLEdit.setTable("mcp_servers.pipectl", ["command = \"pipectl\""], in: text)
            }
        },
        .pure(
            "paragraph", words: [MarkedParagraph.begin, MarkedParagraph.end, "\n\n"], limit: 64 << 10, corpus: ruleFiles
        ) {
            bytes, _ in
            try edited(bytes) { text throws(JSONEdit.Problem) in
                try MarkedParagraph.set("Ask `pipectl wait`.\n", in: text)
            }
        },
    ]

    /// An answer is one line, and stays the same when it is read again.
    private static func hold(_ json: JSON) throws {
        let bytes = json.bytes
        try demand(!bytes.contains(0x0A), "an answer with a line feed")
        try demand(try JSON(parsing: bytes) == json, "another value when it is read again")
    }

    private static func checkLines(_ bytes: [UInt8], _ random: inout SplitMix64) throws {
        let limit = random.pick([1, 100, 1 << 20])
        var splitter = LineSplitter(limit: limit)
        var found: [LineInput.Line] = []
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = min(1 + random.below(1 << random.below(16)), rest.count)
            found += splitter.take(rest.prefix(count))
            rest = rest.dropFirst(count)
        }
        let whole = bytes.split(separator: 0x0A, omittingEmptySubsequences: false).dropLast().filter {
            !$0.isEmpty && Array($0) != [0x0D]
        }
        let wanted = whole.map { $0.count > limit ? LineInput.Line.tooLong : .line(Array($0)) }
        try demand(found == wanted, "\(found.count) lines where \(wanted.count) were sent")
    }

    /// The handwritten text is still there in its order, and a second edit changes nothing.
    private static func edited(_ bytes: [UInt8], _ edit: (String) throws(JSONEdit.Problem) -> String) throws {
        let text = String(decoding: bytes, as: UTF8.self)
        let once: String
        do throws(JSONEdit.Problem) { once = try edit(text) } catch {
            try demand(error.description.utf8.count < 1_000 + text.utf8.count, "a long problem")
            return
        }
        let twice: String
        do throws(JSONEdit.Problem) { twice = try edit(once) } catch {
            throw FuzzViolation("what was written can't be edited again: \(error)")
        }
        try demand(twice == once, "a second time adds something")
        try demand(once.utf8.count <= 2 * text.utf8.count + 1_000, "it has grown to \(once.utf8.count) bytes")
    }

    @Sendable private static func messages() throws -> [[UInt8]] {
        Corpus.texts(
            #"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"get_bundle","arguments":{"run":7,"bytes":4000},"_meta":{"progressToken":"a"}}}"#,
            #"{"jsonrpc":"2.0","id":"x","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}"#,
            #"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#,
            #"{"jsonrpc":"2.0","id":1,"result":{}}"#)
    }

    @Sendable private static func settings() throws -> [[UInt8]] {
        Corpus.texts(
            "", "{}", "{\n  // servers\n  \"mcpServers\": {\n    \"a\": { \"command\": \"b\", },\n  },\n}\n",
            "{\"mcpServers\":{\"pipectl\":{\"command\":\"old\"}},\"b\":[1,2e3,null,\"\\u0041\"]}")
    }

    @Sendable private static func tables() throws -> [[UInt8]] {
        Corpus.texts(
            "", "model = \"x\"\n\n[mcp_servers.a]\ncommand = \"b\" # why\nargs = [\n  \"c\",\n]\n",
            "a.b = '''\nx\n'''\r\n[[list]]\r\nc = { d = 1 }\r\n", "[mcp_servers.pipectl]\ncommand = \"pipectl\"\n")
    }

    @Sendable private static func ruleFiles() throws -> [[UInt8]] {
        Corpus.texts("# Rules\n\n- one\n", "\(MarkedParagraph.begin)\nold\n\(MarkedParagraph.end)\nrest\n")
    }
}
