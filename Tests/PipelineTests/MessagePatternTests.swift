import Pipeline
import Testing

@Suite struct MessagePatternTests {
    @Test(arguments: [
        ("[deploy]", "Ship it [deploy]", true),
        ("[deploy]", "Ship it\n\nAll of it.\n[deploy]\n", true),
        ("[deploy]", "Ship it", false),
        ("[deploy]", "deploy", false),  // no class of characters
        ("[deploy]", "[Deploy]", false),
        ("{a,b}", "a", false),
        ("{a,b}", "{a,b}", true),
        ("[skip ci]", "[skip\nci]", false),
        ("[skip *]", "Fix it [skip ci] for now", true),
        ("[skip *]", "[skip\n]", false),
        ("[skip *]", "[skip\r\n]", false),
        ("a*b*c", "xaybzc", true),
        ("a*b*c", "acb", false),
        ("a**b", "ab", true),
        ("*a", "ba", true),
        ("aab", "aaab", true),
        ("aa*aa", "aaa", false),
        ("aa*aa", "aaaa", true),
        ("^docs:", "docs: say it", true),
        ("^docs:", "Add\n\ndocs: no", true),
        ("^docs:", "Add\r\ndocs: no", true),
        ("^docs:", "Fix docs: say it", false),
        ("^docs*typo", "docs: a typo", true),
        ("^docs*typo", "a docs: a typo", false),
        ("^*typo", "a typo", true),
        ("\\^docs", "docs", false),
        ("\\^docs", "a ^docs", true),
        ("\\*", "a * b", true),
        ("\\*", "a b", false),
        ("\\\\", "a \\ b", true),
        ("docs^", "docs^", true),
        ("é", "e\u{301}", false),
        ("e", "e\u{301}", true),  // scalars, so that no combining character hides a pattern
        ("🚀", "Ship 🚀 it", true),
        ("a", "", false),
    ])
    func `a pattern matches a line that contains it`(pattern: String, message: String, matches: Bool) throws {
        #expect(try MessagePattern(pattern).matches(message) == matches)
    }

    @Test(arguments: [
        ("", "leave the pattern out"), (" ", "leave the pattern out"), ("*", "leave the pattern out"),
        ("^", "leave the pattern out"), ("^ * ", "leave the pattern out"), ("a\\", "write \\\\"),
        ("a\nb", "a pattern for each line"), ("a\\\nb", "a pattern for each line"),
        ("\u{1B}[", "control character"), (String(repeating: "é", count: 513), "is enough"),
    ])
    func `a pattern that can't be meant is refused with what to do`(pattern: String, says: String) {
        let problem = #expect(throws: MessagePatternProblem.self) { try MessagePattern(pattern) }
        #expect(problem?.description.contains(says) == true, "\(problem?.description ?? "")")
    }

    @Test func `the longest pattern is accepted`() throws {
        #expect(try MessagePattern(String(repeating: "é", count: 512)).matches("e") == false)
    }

    @Test(.timeLimit(.minutes(1))) func `a hostile message takes no long time`() throws {
        let pattern = try MessagePattern(String(repeating: "a*", count: 100) + "b")
        #expect(!pattern.matches(String(repeating: "a", count: 65_536)))
    }

    @Test(arguments: [
        (Trigger.push(to: "main"), "", true),
        (.push(to: "main", messages: ["[deploy]"]), "Ship it [deploy]", true),
        (.push(to: "main", messages: ["[deploy]"]), "Ship it", false),
        (.push(to: "main", messages: ["[deploy]", "^release"]), "release it", true),
        (.merge(into: "main", ignoringMessages: ["[skip ci]"]), "Add it", true),
        (.merge(into: "main", ignoringMessages: ["[skip ci]"]), "Add it [skip ci]", false),
        (.pullRequest(into: "main", messages: ["[full]"], ignoringMessages: ["[skip ci]"]), "[full] [skip ci]", false),
        (.pullRequest(into: "main", messages: ["[full]"], ignoringMessages: ["[skip ci]"]), "[full]", true),
        (.pullRequest(into: "main", messages: ["[full]"], ignoringMessages: ["[skip ci]"]), "Add it", false),
    ])
    func `message filters decide whether a trigger matches`(trigger: Trigger, message: String, expected: Bool) {
        #expect((trigger.objection(to: TriggerFacts(branch: "main", message: { message })) == nil) == expected)
    }
}
