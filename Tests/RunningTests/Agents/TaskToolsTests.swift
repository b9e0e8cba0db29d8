import Foundation
import Git
import Pipeline
import Results
import TestBasics
import Testing
import Watching

@testable import Preparing
@testable import Running

/// pipectl's tools, as the agent of a task calls them.
@Suite(.timeLimit(.minutes(2))) struct TaskToolsTests {
    /// A line of shell that calls a tool and prints the answer.
    private func call(_ tool: String, _ arguments: String) -> String {
        #"""
        command=$(sed -n 's/.*"command":"\([^"]*\)".*/\1/p' "$PIPECTL_TASK_MCP")
        socket=$(sed -n 's/.*"--connect","\([^"]*\)".*/\1/p' "$PIPECTL_TASK_MCP")
        printf '%s\n' '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}' '{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"TOOL","arguments":ARGUMENTS}}' > "$PIPECTL_VALUES_OUT/call"
        said=$PIPECTL_VALUES_OUT/said; : > "$said"
        { cat "$PIPECTL_VALUES_OUT/call"; until grep -q '"id":2' "$said"; do sleep 0.1; done; } | "$command" --connect "$socket" > "$said"
        cat "$said"

        """#
        .replacingOccurrences(of: "TOOL", with: tool).replacingOccurrences(of: "ARGUMENTS", with: arguments)
    }

    @Test func `remarks are there`() async throws {
        try await AgentBench.with { bench in
            bench.add(.remark(text: "prefer small steps"))
            let ended = try await bench.work(call("remarks", "{}") + "echo x > file")
            #expect(ended.result?.made != nil, "\(bench.log)")
            #expect(bench.log.contains("prefer small steps"))
        }
    }

    @Test func `the bundle of a run of this task is shown, and of no other`() async throws {
        try await AgentBench.with { bench in
            bench.add(.checked(run: 7, attempt: 1, verdict: .failed, reason: "red"))
            bench.add(.checked(run: 9, attempt: 1, verdict: .passed, reason: ""))
            _ = try await bench.work(call("get_bundle", "{}") + "echo x > file")
            #expect(bench.log.contains("bundle of 7"))
            for run in [8, 9] {
                _ = try await bench.work(call("get_bundle", "{\"run\":\(run)}") + "echo x > file", attempt: run)
                let log = bench.log
                #expect(!log.contains("bundle of") && log.contains("is not part of this task"), "\(log)")
            }
        }
    }

    @Test func `files are tried as they are`() async throws {
        try await AgentBench.with { bench in
            let ended = try await bench.work(
                call("run_tests", "{}") + "echo one > new\n"
                    + call("run_tests", #"{"tests":["Cart/total"],"steps":["unit"]}"#) + "echo two > new")
            #expect(ended.result?.made != nil, "\(bench.log)")
            // Nothing had been changed at first.
            let tried = bench.tried
            #expect(tried.count == 1)
            let request = try #require(tried.first)
            #expect(request.kind == .manual && request.options.isForAgent && request.task == nil)
            #expect(request.onlySteps == ["unit"])
            #expect(request.onlyTests?.map(\.name) == ["Cart/total"])
            let head = try #require(OID(hex: request.head))
            try await withRepository(at: bench.phases.repository.store) { store in
                let content = try store.smallFile("new", at: head, atMost: 100)
                #expect(content == Array("one\n".utf8))
            }
            #expect(bench.log.contains("passed"))
        }
    }

    @Test(arguments: ["steps", "tests"])
    func `a name with a secret starts no run, which would keep it`(_ names: String) async throws {
        let key = "sk-4f9a77c1d2e3b4a5"
        try await AgentBench.with(secrets: ["MODEL_KEY": key]) { bench in
            _ = try await bench.work("echo one > new\n" + call("run_tests", #"{"\#(names)":["unit \#(key)"]}"#))
            let log = bench.log
            #expect(bench.tried.isEmpty)
            #expect(log.contains("a name contains secret MODEL_KEY") && !log.contains(key), "\(log)")
        }
    }

    @Test(arguments: ["run_tests", "approve", "land", "get_task", "cancel_run"])
    func `a planner can't try anything, and nobody can approve or land`(_ tool: String) async throws {
        try await AgentBench.with { bench in
            _ = try await bench.plan(call(tool, "{}"))
            #expect(bench.log.contains("\"error\""), "\(bench.log)")
            #expect(bench.tried.isEmpty)
        }
    }
}
