import DaemonLog
import TestBasics
import Foundation
import TestSupport
import Testing

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// `mcp` with raw lines that no correct client sends. script/mcp-check uses the official client.
struct MCPTests {
    private static let begin = """
        {"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}
        """

    private struct Reply: Decodable {
        struct Failure: Decodable { var code: Int, message: String }
        enum ID: Decodable, Equatable {
            case number(Int), text(String), none
            init(from decoder: any Decoder) throws {
                let container = try decoder.singleValueContainer()
                if let number = try? container.decode(Int.self) {
                    self = .number(number)
                } else if let text = try? container.decode(String.self) {
                    self = .text(text)
                } else {
                    self = .none
                }
            }
        }
        struct Result: Decodable {
            struct Part: Decodable { var text: String }
            var protocolVersion: String?
            var isError: Bool?
            var content: [Part]?
        }
        var id: ID?
        var method: String?
        var error: Failure?
        var result: Result?
    }

    /// Sends the lines, closes the input, and returns the replies.
    private func talk(_ bench: Bench, _ lines: String...) async throws -> (code: Int32, replies: [Reply]) {
        let path = "\(bench.root)/lines-\(UInt32.random(in: 0 ... .max))"
        try Data((lines.joined(separator: "\n") + "\n").utf8).write(to: URL(fileURLWithPath: path))
        let ended = try await bench.command(
            ["sh", "-c", "\"$0\" mcp < \"$1\"", Bench.pipectl, path], in: bench.repository)
        let replies = try ended.output.split(separator: "\n").map {
            try JSONDecoder().decode(Reply.self, from: Data($0.utf8))
        }
        return (ended.code, replies)
    }

    @Test(
        .timeLimit(.minutes(5)),
        arguments: [
            ("{", -32700), ("[]", -32600), ("[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}]", -32600),
            ("7", -32600),
            ("{\"id\":1,\"method\":\"ping\"}", -32600), ("{\"jsonrpc\":\"2.0\",\"id\":1}", -32600),
            ("{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"ping\"}", -32600),
            ("{\"jsonrpc\":\"2.0\",\"id\":1.5,\"method\":\"ping\"}", -32600),
            ("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":[]}", -32600),
            ("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"no/such\"}", -32601),
            ("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\"}", -32602),
            ("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"approve\"}}", -32602),
            (
                "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"resources/read\",\"params\":{\"uri\":\"file:///etc/passwd\"}}",
                -32002
            ),
            ("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\",\"params\":{\"cursor\":\"x\"}}", -32602),
        ])
    func whatCannotBeAnsweredIsRefusedWithItsCode(line: String, code: Int) async throws {
        try await Bench.with { bench in
            let (ended, replies) = try await talk(
                bench, Self.begin, line, "{\"jsonrpc\":\"2.0\",\"id\":\"last\",\"method\":\"ping\"}")
            #expect(ended == 0)
            #expect(replies.contains { $0.error?.code == code }, "\(replies)")
            #expect(replies.contains { $0.id == .text("last") && $0.error == nil }, "it goes on afterwards")
        }
    }

    @Test(.timeLimit(.minutes(5)))
    func `a line that is too long or nested too deep does not end the server`() async throws {
        try await Bench.with { bench in
            let huge = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\(String(repeating: "x", count: 5 << 20))\"}"
            let deep = String(repeating: "[", count: 200_000)
            let (code, replies) = try await talk(
                bench, Self.begin, huge, deep, "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"ping\"}")
            #expect(code == 0)
            #expect(replies.compactMap(\.error?.code).sorted() == [-32700, -32600])
            #expect(replies.contains { $0.id == .number(2) && $0.error == nil })
        }
    }

    @Test(.timeLimit(.minutes(5)))
    func `both kinds of handshake are understood`() async throws {
        try await Bench.with { bench in
            func meta(_ version: String) -> String {
                "{\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"\(version)\",\"io.modelcontextprotocol/clientCapabilities\":{}}}"
            }
            let (_, replies) = try await talk(
                bench, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}",
                "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"server/discover\",\"params\":\(meta("2026-07-28"))}",
                "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"tools/list\",\"params\":\(meta("1900-01-01"))}",
                "{\"jsonrpc\":\"2.0\",\"id\":4,\"method\":\"tools/list\",\"params\":\(meta("2026-07-28"))}",
                Self.begin.replacing("2025-11-25", with: "1999-01-01"))
            func reply(_ id: Int) throws -> Reply { try #require(replies.first { $0.id == .number(id) }) }
            #expect(try reply(1).error?.code == -32600, "nothing was agreed on")
            #expect(try reply(2).error == nil)
            #expect(try reply(3).error?.code == -32022)
            #expect(try reply(4).error == nil)
            #expect(try reply(0).result?.protocolVersion == "2025-11-25", "the newest, where the wanted one is unknown")
        }
    }

    @Test(.timeLimit(.minutes(5)))
    func `the end of the input during calls ends the server`() async throws {
        try await Bench.with { bench in
            try await bench.withDaemon { daemon in
                try await daemon.event(.baseline)
                let zeros = String(repeating: "0", count: 40)
                let calls = (1...20).map { number in
                    """
                    {"jsonrpc":"2.0","id":\(number),"method":"tools/call","params":{"name":"wait_for_verdict","arguments":{"what":"\(zeros)"}}}
                    """
                }
                let again = calls[0]
                let (code, replies) = try await talk(bench, ([Self.begin] + calls + [again]).joined(separator: "\n"))
                #expect(code == 0)
                #expect(replies.filter { $0.error != nil }.map(\.error?.code) == [-32600], "an id that is taken")
                #expect(try await bench.pipectl("status").code == 0, "the daemon lost its clients and nothing else")
            }
        }
    }

    @Test(.timeLimit(.minutes(5)))
    func `a tool that needs a daemon says so`() async throws {
        try await Bench.with { bench in
            let call = """
                {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"run_working_tree","arguments":{"workflow":"test"}}}
                """
            // The input stays open until the answer has arrived.
            for name in ["in", "out"] { #expect(mkfifo("\(bench.root)/\(name)", 0o600) == 0) }
            let script = """
                "$0" mcp < "$3/in" > "$3/out" &
                exec 9> "$3/in" 8< "$3/out"
                printf '%s\\n%s\\n' "$1" "$2" >&9
                read -r begun <&8; read -r answer <&8; printf '%s\\n' "$answer"
                exec 9>&-; cat <&8
                """
            let ended = try await bench.command(
                ["sh", "-c", script, Bench.pipectl, Self.begin, call, bench.root], in: bench.repository)
            #expect(ended.output.contains("\"isError\":true"), "\(ended.output)\(ended.errors)")
            #expect(ended.output.contains("pipectl watch"), "\(ended.output)")
        }
    }
}
