import TestBasics
import Results
import Foundation
import TestSupport
import Testing

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// An agent's tools neither start nor repeat steps that publish or have secrets.
struct AgentLimitTests {
    private static let files = [
        "workflows/x.swift": """
        import Pipeline

        let release = Workflow("release", on: .merge(into: "main")) { Step("publish", run: "exit 1") }
        let deploy = Workflow("deploy", on: .push(to: "main")) { Step("send", run: "exit 1").secrets("TOKEN") }
        let plain = Workflow("plain", on: .push(to: "main")) { Step("check", run: "exit 1") }
        @main struct Workflows: WorkflowSet { static let workflows = [release, deploy, plain] }

        """
    ]

    private struct Answer: Decodable {
        struct Result: Decodable {
            struct Part: Decodable { var text: String }
            var isError: Bool?
            var content: [Part]
        }
        var result: Result
        var text: String { result.content.map(\.text).joined() }
    }

    /// Calls one tool of `pipectl mcp`; its input stays open until the answer has arrived.
    private func call(_ tool: String, _ arguments: String, _ bench: Bench) async throws -> Answer {
        let begin = """
            {"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}
            """
        let call = """
            {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"\(tool)","arguments":\(arguments)}}
            """
        let pipes = "\(bench.root)/\(UInt32.random(in: 0 ... .max))"
        for name in ["in", "out"] { #expect(mkfifo("\(pipes)\(name)", 0o600) == 0) }
        let script = """
            "$0" mcp < "$3in" > "$3out" &
            exec 9> "$3in" 8< "$3out"
            printf '%s\\n%s\\n' "$1" "$2" >&9
            read -r begun <&8; read -r answer <&8; printf '%s\\n' "$answer"
            exec 9>&-; cat <&8 > "$3rest"
            """
        let ended = try await bench.command(
            ["sh", "-c", script, Bench.pipectl, begin, call, pipes], in: bench.repository)
        return try JSONDecoder().decode(Answer.self, from: Data(ended.output.utf8))
    }

    @Test(.timeLimit(.minutes(6)))
    func `steps that publish or have secrets are left to people`() async throws {
        try await Bench.with(Self.files) { bench in
            #expect(try await bench.look().code == 0)
            let set = try await bench.command([
                "sh", "-c", "printf something-long | \"$0\" secrets set TOKEN", Bench.pipectl,
            ])
            #expect(set.code == 0, "\(set.errors)")
            try await bench.commit(["b.txt": "b"], "Go")
            #expect(try await bench.look().code == 1)
            let runs = try await bench.runs()
            #expect(runs.count == 3 && runs.allSatisfy { $0.trust == .merged && $0.verdict == .failed })
            func id(_ workflow: String) throws -> RunID { try #require(runs.first { $0.workflow == workflow }).id }
            try await bench.withDaemon { _ in
                for workflow in ["release", "deploy"] {
                    let id = try id(workflow)
                    let refused = try await call("rerun_failed", "{\"run\":\(id)}", bench)
                    #expect(refused.result.isError == true, "\(workflow): \(refused.text)")
                    #expect(refused.text.contains("pipectl rerun \(id) --failed"), "\(refused.text)")
                }
                let tree = try await call("run_working_tree", "{\"workflow\":\"release\"}", bench)
                #expect(tree.result.isError == true && tree.text.contains("pipectl run release"), "\(tree.text)")
                #expect(try await bench.runs().count == 3, "nothing was started")

                let allowed = try await call("rerun_failed", "{\"run\":\(try id("plain"))}", bench)
                #expect(allowed.result.isError != true, "\(allowed.text)")
                // A run of its own files, without secrets.
                let own = try await call("run_working_tree", "{\"workflow\":\"deploy\"}", bench)
                #expect(own.result.isError != true, "\(own.text)")
                #expect(try await bench.runs().count == 5)
            }
        }
    }
}
