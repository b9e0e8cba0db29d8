#if os(Linux)
    import AgentWork
    import Concurrency
    import Engine
    import Foundation
    import MCP
    import Pipeline
    import Results
    import Sandbox
    import Synchronization
    import SystemCalls
    import SystemPackage
    import TestBasics
    import TestSupport
    import StepSlots
    import Testing

    /// An agent in a real sandbox, which has no network but what its desk offers.
    @Suite(.timeLimit(.minutes(3))) struct AgentDeskTests {
        @Test func `a named host is reached by TLS, and nothing else is`() async throws {
            let server = try DeskServer()
            try await withDesk { setting in
                setting.hosts = [try AllowedHost("api.example.com")]
                setting.names = server.names
            } body: { bench in
                let port = server.port
                let said = try await server.serving {
                    try await bench.agent(
                        """
                        curl -sS -m 5 https://api.example.com/ && echo never
                        curl -sS -m 5 https://evil.example.org/ && echo never
                        curl -sS -m 5 http://api.example.com/ | sed 's/^/plain: /'
                        curl -sS -m 5 --noproxy '*' http://127.0.0.1:\(port)/ && echo raw
                        curl -sS -m 5 --noproxy '*' http://1.1.1.1/ && echo raw
                        curl -sS -m 5 --noproxy '*' https://api.example.com/ && echo raw
                        echo over
                        """)
                }
                #expect(said.outcome.verdict == .passed, "\(said.log)")
                #expect(said.log.contains("over") && !said.log.contains("never") && !said.log.contains("raw"))
                #expect(said.log.contains("plain: pipectl:"))
                // What has come is the first message of TLS, with the host's name.
                #expect(server.received.first == 0x16)
                #expect(String(decoding: server.received, as: UTF8.self).contains("api.example.com"))
                #expect(server.connections == 1)
                #expect(bench.desk.refusals.map(\.host) == ["evil.example.org:443", "(none)"])
                #expect(said.log.contains("pipectl: no connection to evil.example.org:443"))
            }
        }

        @Test func `without hosts there is no proxy`() async throws {
            try await withDesk { _ in
            } body: { bench in
                let said = try await bench.agent(
                    "test -z \"$HTTPS_PROXY\"; test ! -e /run/pipectl/agent/hosts; echo fine")
                #expect(said.outcome.verdict == .passed, "\(said.log)")
            }
        }

        @Test func `prompt, files, answer and usage`() async throws {
            try await withDesk { setting in
                setting.prompt = "Do it.\n"
                setting.files = [(name: "crash report.ips", bytes: Array("report".utf8))]
                setting.variables = ["PIPECTL_TASK": "12"]
            } body: { bench in
                let said = try await bench.agent(
                    """
                    test "$(cat)" = "Do it."; test "$(cat "$PIPECTL_TASK_PROMPT")" = "Do it."
                    test "$(cat "$PIPECTL_TASK_FILES/crash report.ips")" = report; test "$PIPECTL_TASK" = 12
                    for file in "$PIPECTL_TASK_PROMPT" "$PIPECTL_TASK_FILES/x"; do (echo x > "$file") 2>/dev/null && exit 9; done
                    echo '{"tokens": 7}' > "$PIPECTL_TASK_USAGE"
                    echo to the log >&2; echo the answer; exit 0
                    """)
                #expect(said.outcome.verdict == .passed, "\(said.log)")
                #expect(bench.desk.left.answer == Array("the answer\n".utf8))
                #expect(bench.desk.left.usage == Array("{\"tokens\": 7}\n".utf8))
                #expect(said.log.contains("to the log") && said.log.contains("the answer"))
            }
        }

        @Test(arguments: [3, 77]) func `the exit code is the agent's`(_ code: Int32) async throws {
            try await withDesk { _ in
            } body: { bench in
                let said = try await bench.agent("echo partly; exit \(code)")
                #expect(said.outcome.verdict == .failed)
                #expect(said.outcome.steps.first?.attempts.first?.exitCode == code)
                #expect(bench.desk.left.answer == Array("partly\n".utf8))
            }
        }

        @Test func `a planner can't write to the files`() async throws {
            try await withDesk(isReadOnly: true) { _ in
            } body: { bench in
                let said = try await bench.agent(
                    "test -f file; for f in file new; do (echo x > $f) 2>/dev/null && exit 9; done; echo x > ~/x; echo x > /tmp/x"
                )
                #expect(said.outcome.verdict == .passed, "\(said.log)")
            }
        }

        @Test func `pipectl's tools are there`() async throws {
            try await withDesk { setting in
                setting.tools = Server(
                    Server.Identity(name: "pipectl", title: "pipectl", version: "1", instructions: "Use them."),
                    tools: [
                        AgentTool(
                            name: "echo", title: "Echo", summary: "Says it again.", effect: .reads,
                            parameters: [AgentTool.Parameter("text", JSONSchema.string("What."))],
                            output: ["type": "object"]
                        ) { arguments, _ in
                            ToolAnswer(["said": .string(try arguments.string("text") ?? "")])
                        }
                    ], resources: NoResources())
            } body: { bench in
                let said = try await bench.agent(
                    #"""
                    command=$(sed -n 's/.*"command":"\([^"]*\)".*/\1/p' "$PIPECTL_TASK_MCP")
                    socket=$(sed -n 's/.*"--connect","\([^"]*\)".*/\1/p' "$PIPECTL_TASK_MCP")
                    {
                    echo '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}'
                    echo '{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"echo","arguments":{"text":"hello"}}}'
                    } | "$command" --connect "$socket"
                    """#)
                #expect(said.outcome.verdict == .passed, "\(said.log)")
                #expect(said.log.contains(#""said":"hello""#) || said.log.contains("hello"), "\(said.log)")
            }
        }

        @Test func `remarks come while the agent works`() async throws {
            let remarks = Mutex<[AgentRemark]>([])
            try await withDesk { setting in
                setting.lastRemark = 4
                setting.remarks = { after in remarks.withLock { $0.filter { $0.number > after } } }
            } body: { bench in
                remarks.withLock {
                    $0 = [
                        AgentRemark(number: 4, at: Date(timeIntervalSince1970: 0), by: nil, text: "old"),
                        AgentRemark(number: 6, at: Date(timeIntervalSince1970: 0), by: "ada", text: "one\nline"),
                    ]
                }
                #expect(bench.desk.lastRemark == 4)
                let said = try await bench.agent(
                    "until [ -s \"$PIPECTL_TASK_REMARKS\" ]; do sleep 0.1; done; cat \"$PIPECTL_TASK_REMARKS\"")
                #expect(
                    bench.desk.left.answer.map { String(decoding: $0, as: UTF8.self) }
                        == #"{"at":"1970-01-01T00:00:00Z","by":"ada","number":6,"text":"one\nline"}"# + "\n",
                    "\(said.log)")
                #expect(bench.desk.lastRemark == 6)
            }
        }

        // MARK: Bench

        private struct Bench: Sendable {
            let desk: AgentDesk
            let place: AgentPlace
            let folder: RunFolder

            struct Said: Sendable {
                var outcome: RunOutcome
                var log: String
            }

            func agent(_ line: String) async throws -> Said {
                let step = PlannedStep(name: "agent", action: .shell(line))
                let setting = RunSetting(
                    place: place, folder: FilePath(folder.path("run")),
                    environment: ["PATH": "/usr/bin:/bin", "CI": "true"], grace: .seconds(2))
                let outcome = await Runner(setting: setting, pool: SlotPool(slots: 1), emit: { _ in }).run(
                    Plan(workflow: "w", steps: [step]), stop: StopSignal())
                let file = outcome.steps.first?.attempts.first?.log?.file ?? ""
                let log = FileManager.default.contents(atPath: "\(folder.path("run"))/logs/\(file)") ?? Data()
                return Said(outcome: outcome, log: String(decoding: log, as: UTF8.self))
            }
        }

        private func withDesk(
            isReadOnly: Bool = false, _ change: (inout AgentDesk.Setting) throws -> Void,
            body: @escaping @Sendable (Bench) async throws -> Void
        ) async throws {
            var setting = AgentDesk.Setting()
            setting.prompt = "prompt"
            try change(&setting)
            let wanted = setting
            try await RunFolder.provide {
                let folder = RunFolder.current
                try folder.write("content", to: "file")
                var place = LocalPlace(
                    workspace: FilePath(folder.workspace), folder: FilePath(folder.path("run")),
                    stepInit: RunFolder.stepInit)
                let sandbox = try await Sandbox.find(stepInit: RunFolder.stepInit.string, toolchain: nil)
                place.runSandbox = RunSandbox(sandbox: sandbox, user: try StepUsers(seed: folder.root).take())
                let desk = try AgentDesk(wanted, at: place)
                try await body(
                    Bench(desk: desk, place: AgentPlace(place, desk: desk, isReadOnly: isReadOnly), folder: folder))
            }
        }
    }

    private struct NoResources: ResourceProvider {
        let templates: [MCP.Resource] = []
        func resources() async throws -> [MCP.Resource] { [] }
        func read(_ uri: String) async throws -> (text: String, type: String)? { nil }
    }

    /// A server on the machine's loopback, to which every name leads. It takes what comes, and ends.
    final class DeskServer: Sendable {
        private let listener: StreamSocket
        private let seen = Mutex((received: [UInt8](), connections: 0))
        let port: UInt16

        init() throws {
            let target = NetworkTarget(.four([127, 0, 0, 1]), port: 0)
            listener = try StreamSocket.make(family: target.family)
            #expect(listener.bind(to: target) == 0)
            try listener.listen()
            port = listener.port ?? 0
        }

        var received: [UInt8] { seen.withLock { $0.received } }
        var connections: Int { seen.withLock { $0.connections } }

        var names: HostNames {
            let port = port
            return HostNames(
                addresses: { _ in [NetworkTarget(.four([127, 0, 0, 1]), port: port)] }, permits: { _ in true })
        }

        func serving<Value: Sendable>(_ body: @escaping @Sendable () async throws -> Value) async throws -> Value {
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    while let client = try await self.listener.accept() {
                        var bytes: [UInt8] = []
                        _ = try await client.read(into: &bytes)
                        let got = bytes
                        self.seen.withLock { $0 = ($0.received + got, $0.connections + 1) }
                        client.close()
                    }
                }
                let value = try await body()
                group.cancelAll()
                return value
            }
        }
    }
#endif
