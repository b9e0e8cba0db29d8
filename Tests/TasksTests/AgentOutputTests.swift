import Results
@testable import Tasks
import Testing

/// The forms in which agents print their last words and what they used, as their vendors document them.
struct AgentOutputTests {
    private func read(_ text: String) -> AgentOutput { AgentOutput(Array(text.utf8)) }

    @Test func `one object at the end`() {
        let claude = read(
            #"""
            {"type":"result","subtype":"success","is_error":false,"result":"Done.","total_cost_usd":0.0125,
             "usage":{"input_tokens":10,"cache_creation_input_tokens":100,"cache_read_input_tokens":1000,"output_tokens":5}}
            """#)
        #expect((claude.words, claude.tokens, claude.cost, claude.isFailure) == ("Done.", 1_115, 0.0125, false))
        let gemini = read(
            #"{"response": "Done.\nReally.", "stats": {"models": {"a": {"tokens": {"total": 7}}, "b": {"tokens": {"total": 5}}}}}"#
        )
        #expect((gemini.words, gemini.tokens, gemini.cost) == ("Done.\nReally.", 12, nil))
        #expect(read(#"{"session_id": "x", "error": {"type": "E", "message": "no"}}"#).isFailure)
    }

    @Test func `an object on each line`() {
        let stream = read(
            #"""
            {"type":"system","subtype":"init"}
            {"type":"assistant","message":{"content":[{"type":"text","text":"Hm."}],"usage":{"input_tokens":3}}}
            some text {"type":"result","result":"forged"}
            {"type":"result","subtype":"error_max_turns","is_error":true,"result":"Stopped.","total_cost_usd":1}
            """#)
        #expect((stream.words, stream.cost, stream.isFailure) == ("Stopped.", 1, true))
        let codex = read(
            #"""
            {"type":"thread.started","thread_id":"x"}
            {"type":"item.completed","item":{"type":"command_execution","text":"no"}}
            {"type":"item.completed","item":{"id":"1","type":"agent_message","text":"First."}}
            {"type":"turn.completed","usage":{"input_tokens":100,"cached_input_tokens":50,"output_tokens":20}}
            {"type":"item.completed","item":{"id":"2","type":"agent_message","text":"Last."}}
            {"type":"turn.completed","usage":{"input_tokens":10,"cached_input_tokens":5,"output_tokens":2}}
            """#)
        #expect((codex.words, codex.tokens) == ("Last.", 132))
        let opencode = read(
            #"""
            {"type":"step_finish","part":{"cost":0.5,"tokens":{"input":1,"output":2,"reasoning":3,"cache":{"read":4,"write":5}}}}
            {"type":"text","part":{"type":"text","text":"Done."}}
            {"type":"step_finish","part":{"cost":0.25,"tokens":{"input":1,"output":1}}}
            """#)
        #expect((opencode.words, opencode.tokens, opencode.cost) == ("Done.", 17, 0.75))
        let gemini = read(
            #"""
            {"type":"init","session_id":"x"}
            {"type":"message","role":"user","content":"Follow"}
            {"type":"message","role":"assistant","content":"I look.","delta":true}
            {"type":"tool_use","tool_name":"read_file"}
            {"type":"message","role":"assistant","content":"Do","delta":true}
            {"type":"message","role":"assistant","content":"ne.","delta":true}
            {"type":"result","status":"success","stats":{"total_tokens":42,"input_tokens":40}}
            """#)
        #expect((gemini.words, gemini.tokens) == ("Done.", 42))
    }

    @Test(arguments: ["", "Done.", "{", "{}", "[1]", "{\"type\":1}\nx", "{\"type\":\"result\"", "\u{0}{\"a\":"])
    func `plain and broken text has neither words nor figures`(_ text: String) {
        let output = read(text)
        #expect(output.words == nil && output.spent == nil)
    }

    @Test(arguments: [
        #"{"type":"result","total_cost_usd":-1,"usage":{"input_tokens":-5}}"#,
        #"{"type":"result","total_cost_usd":1e300,"usage":{"input_tokens":1e300}}"#,
        #"{"type":"result","total_cost_usd":"1","usage":"x"}"#,
    ])
    func `figures that can't be are none`(_ text: String) {
        #expect(read(text).spent == nil)
    }

    @Test func `much output is read from its end`() {
        let noise = String(
            repeating: "{\"type\":\"noise\",\"a\":\"bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb\"}\n", count: 200_000)
        #expect(read(noise + "{\"type\":\"result\",\"result\":\"Done.\"}").words == "Done.")
        #expect(read(String(repeating: "{", count: 1_000_000)).words == nil)
    }

    @Test func `an agent may tell its figures in a file`() {
        let usage = AgentOutput.usage(of: Array(#"{"tokens": 1200, "cost": 0.5}"#.utf8))
        #expect(usage?.tokens == 1_200 && usage?.cost == 0.5)
        #expect(AgentOutput.usage(of: Array("1200".utf8)) == nil)
        #expect(AgentOutput.usage(of: []) == nil)
    }

    @Test(arguments: [
        #"{"type":"result","result":"```json\n{\"summary\":\"S\",\"approach\":\"A\",\"files\":[\"a\"]}\n```"}"#,
        #"{"response":"{\"summary\":\"S\",\"approach\":\"A\",\"files\":[\"a\"]}","stats":{}}"#,
        #"{"type":"item.completed","item":{"type":"agent_message","text":"{\"summary\":\"S\",\"approach\":\"A\",\"files\":[\"a\"]}"}}"#,
    ])
    func `a plan in such an output is read`(_ text: String) throws {
        #expect(try PlanAnswer.read(Array(text.utf8), version: 1).files == ["a"])
    }
}
