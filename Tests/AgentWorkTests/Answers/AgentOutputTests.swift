import AgentWork
import Testing

@Suite struct AgentOutputTests {
    private func read(_ text: String) -> AgentOutput { AgentOutput(Array(text.utf8)) }

    @Test func `text is text`() {
        let output = read("I changed Cart.swift.\nAll tests pass.\n")
        #expect(output.text == "I changed Cart.swift.\nAll tests pass.\n")
        #expect(output.usage == AgentUsage())
    }

    @Test func `Claude Code prints one object`() {
        let output = read(
            """
            {"type":"result","subtype":"success","is_error":false,"result":"Done.","total_cost_usd":0.0375,
             "usage":{"input_tokens":10,"cache_creation_input_tokens":200,"cache_read_input_tokens":3000,"output_tokens":40}}
            """)
        #expect(output.text == "Done.")
        #expect(output.usage == AgentUsage(tokens: 3250, cost: 0.0375))
    }

    @Test func `of a stream, the last object counts`() {
        let output = read(
            """
            {"type":"system","subtype":"init"}
            {"type":"assistant","message":{"content":[{"type":"text","text":"Looking"}]}}
            {"type":"result","result":"Done.","total_cost_usd":0.5,"usage":{"input_tokens":1,"output_tokens":2}}
            """)
        #expect(output.text == "Done.")
        #expect(output.usage == AgentUsage(tokens: 3, cost: 0.5))
    }

    @Test func `Codex tells each turn`() {
        let output = read(
            """
            {"type":"thread.started","thread_id":"1"}
            {"type":"item.completed","item":{"id":"a","type":"agent_message","text":"First"}}
            {"type":"turn.completed","usage":{"input_tokens":100,"cached_input_tokens":90,"output_tokens":5}}
            {"type":"item.completed","item":{"id":"b","type":"agent_message","text":"Second"}}
            {"type":"turn.completed","usage":{"input_tokens":200,"cached_input_tokens":90,"output_tokens":6}}
            """)
        #expect(output.text == "Second")
        #expect(output.usage == AgentUsage(tokens: 311))
    }

    @Test func `Gemini CLI tells each model`() {
        let output = read(
            """
            {"response":"Done.","stats":{"models":{"a":{"tokens":{"prompt":1,"total":10}},"b":{"tokens":{"total":32}}}}}
            """)
        #expect(output.text == "Done.")
        #expect(output.usage == AgentUsage(tokens: 42))
    }

    @Test func `OpenCode tells each step`() {
        let output = read(
            """
            {"type":"text","part":{"type":"text","text":"Done."}}
            {"type":"step_finish","part":{"tokens":{"input":1,"output":2,"reasoning":3,"cache":{"read":4,"write":5}},"cost":0.1}}
            {"type":"step_finish","part":{"tokens":{"input":1,"output":2,"reasoning":3,"cache":{"read":4,"write":5}},"cost":0.2}}
            """)
        #expect(output.text == "Done.")
        #expect(output.usage.tokens == 30)
        #expect(abs((output.usage.cost ?? 0) - 0.3) < 1e-9)
    }

    @Test(arguments: [
        "{\"type\":\"result\",\"result\":7,\"usage\":\"much\"}", "{\"type\":\"result\"", "{}", "[1]",
        "{\"stats\":{\"models\":7}}",
        "", "\u{0}\u{1B}[2J", String(repeating: "{\"a\":", count: 5_000), String(repeating: "[", count: 100_000),
    ])
    func `anything else is text`(_ text: String) {
        let output = read(text)
        #expect(output.text == text)
        #expect(output.usage == AgentUsage())
    }

    @Test func `numbers of an agent overflow nothing`() {
        let line =
            "{\"type\":\"turn.completed\",\"usage\":{\"input_tokens\":9223372036854775807,\"output_tokens\":-5}}\n"
        let tokens = read(String(repeating: line, count: 10)).usage.tokens ?? 0
        #expect(tokens > 0 && tokens <= 1_000_000_000_000)
        #expect(read("{\"type\":\"result\",\"total_cost_usd\":1e308}").usage.cost ?? 0 <= 1e12)
    }

    @Test func `a file of usage is read`() {
        #expect(AgentUsage(file: Array("{\"tokens\": 12, \"cost\": 0.5}".utf8)) == AgentUsage(tokens: 12, cost: 0.5))
        #expect(AgentUsage(file: Array("{\"cost\": 1}".utf8)) == AgentUsage(cost: 1))
        for text in ["", "12", "{}", "{\"tokens\": \"12\"}", String(repeating: " ", count: 5_000) + "{\"tokens\": 1}"] {
            #expect(AgentUsage(file: Array(text.utf8)) == nil)
        }
    }
}
