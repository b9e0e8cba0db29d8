import Client
import Control
import Foundation
import MCP
import Reports
import Results

/// Tools that wait for a verdict and return the bundle.
extension Toolbox {
    /// How often progress is sent to hosts that give up on a silent call.
    private static let heartbeat = Duration.seconds(10)

    static let verdictSchema = JSONSchema.answer(
        [
            "verdict": JSONSchema.choice(
                Verdict.allCases.map(\.rawValue) + ["pending"], "`pending`: there was no verdict within the time."),
            "exitCode": ["type": "integer"], "reason": ["type": "string"], "subject": ["type": "string"],
            "commit": ["type": "string"],
            "run": JSONSchema.integer(1...Int.max, "The run that decided; its bundle is the text of the answer."),
            "isEarly": JSONSchema.bool("Whether that run is still running: a step has failed, others have not ended."),
            "runs": ["type": "array", "items": ["type": "object"]],
            "notes": ["type": "array", "items": ["type": "string"]],
        ], required: ["verdict", "exitCode", "reason", "subject", "isEarly", "runs", "notes"])

    var waitForVerdict: AgentTool {
        AgentTool(
            name: "wait_for_verdict", title: "Wait for a verdict",
            summary: """
                Blocks until a pushed commit, branch, change or run has its verdict, and returns it with a bounded \
                document that says what must change: each failing test with file and line, and the command that \
                reproduces it. Call it once after a push, also before the daemon has seen the commit. Ends at the \
                first step that finally failed unless `until` is "verdict".
                """, effect: .reads,
            parameters: [
                AgentTool.Parameter(
                    "what",
                    JSONSchema.string(
                        "A run's number, #7 for change 7, a branch, tag or commit. Default: HEAD of the folder.")),
                AgentTool.Parameter("change", JSONSchema.string("The change's name, if it is not a number.")),
                AgentTool.Parameter(
                    "until", JSONSchema.choice(WaitRequest.End.allCases.map(\.rawValue), "When the wait ends.")),
                AgentTool.Parameter(
                    "timeout_seconds",
                    JSONSchema.number(0...86_400, "Answers \"pending\" when there is no verdict by then. Default: 600.")
                ),
                AgentTool.Parameter("folder", JSONSchema.string("The repository that you work in.")), Self.repository,
                Self.budget,
            ], output: Self.verdictSchema
        ) { arguments, call in
            let budget = try budget(arguments)
            let subject = WaitSubject(
                text: try arguments.string("what"), change: try arguments.string("change"),
                folder: try folder(arguments))
            let request = try await subject.request(
                repository: try arguments.string("repository"),
                end: try arguments.choice("until", WaitRequest.End.self) ?? .failure)
            let limit = Duration.seconds(try arguments.number("timeout_seconds", in: 0...86_400) ?? 600)
            let outcome = try await wait(request, limit, call)
            let document = VerdictDocument(
                access, outcome: outcome, subject: request.subject.inWords, bytes: budget.bytes)
            let cut = budget.head(
                of: try await document.markdown(), rest: "ask get_bundle with a larger maximum_bytes for the whole.")
            return ToolAnswer(text: cut.text, structured: try JSON(encoding: document.answer))
        }
    }

    private func wait(_ request: WaitRequest, _ limit: Duration, _ call: Call) async throws
        -> VerdictClient.Outcome
    {
        let teller = WaitTeller(call: call)
        return try await withThrowingTaskGroup(of: VerdictClient.Outcome?.self) { group in
            group.addTask {
                try await VerdictClient(state: state).wait(request, limit: limit) { await teller.take($0) }
            }
            group.addTask {
                while true {
                    try await Task.sleep(for: Self.heartbeat)
                    await teller.repeatLast()
                }
            }
            defer { group.cancelAll() }
            guard let outcome = try await group.next() ?? nil else { throw CancellationError() }
            return outcome
        }
    }

    var getBundle: AgentTool {
        AgentTool(
            name: "get_bundle", title: "Get the bundle of a run",
            summary: """
                The bounded document about one run: its verdict and why, each failing test or finding with file and \
                line, and the command that reproduces it. Also for a running run.
                """, effect: .reads,
            parameters: [
                Self.run,
                AgentTool.Parameter(
                    "format", JSONSchema.choice(BundleFormat.allCases.map(\.rawValue), "Default: markdown.")),
                Self.budget,
            ],
            output: JSONSchema.answer(
                [
                    "run": ["type": "integer"], "format": ["type": "string"], "bytes": ["type": "integer"],
                    "cut": ["type": "boolean"],
                ], required: ["run", "format", "bytes", "cut"])
        ) { arguments, _ in
            let (id, budget) = (try run(arguments), try budget(arguments))
            let format = try arguments.choice("format", BundleFormat.self) ?? .markdown
            let text = try await BundleSource(access, run: id).text(format, bytes: budget.bytes)
            var cut = (text: text, isCut: false)
            if text.utf8.count > budget.bytes {
                guard format == .markdown else {
                    throw ToolFailure(
                        "the bundle of run \(id) as JSON has \(text.utf8.count) bytes; ask with maximum_bytes of at least that, or for markdown."
                    )
                }
                cut = budget.head(of: text, rest: "ask with a larger maximum_bytes for the whole.")
            }
            return ToolAnswer(
                text: cut.text,
                structured: [
                    "run": .integer(Int(id)), "format": .string(format.rawValue),
                    "bytes": .integer(cut.text.utf8.count), "cut": .bool(cut.isCut),
                ])
        }
    }
}

/// Forwards the progress of a wait: each message once, and the last one again as a sign of life.
private actor WaitTeller {
    private let call: Call
    private var last = ""
    private var state: WaitState?

    init(call: Call) { self.call = call }

    func take(_ event: VerdictClient.Event) async {
        switch event {
        case .state(let newer): state = newer
        case .away(let why): return await call.progress("no verdict yet: \(why)")
        case .back: return
        }
        let text = text(countsDown: false)
        guard text != last else { return }
        last = text
        await tell(text)
    }

    func repeatLast() async {
        if state != nil { await tell(text(countsDown: true)) }
    }

    private func text(countsDown: Bool) -> String {
        guard let state else { return "" }
        return state.lines(at: Date(), countsDown: countsDown).prefix(5).joined(separator: "; ")
    }

    private func tell(_ text: String) async { await call.progress(text) }
}
