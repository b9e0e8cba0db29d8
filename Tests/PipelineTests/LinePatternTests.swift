@testable import Pipeline
import Testing

@Suite struct LinePatternTests {
    private func matches(_ pattern: String, _ line: String) throws -> Bool {
        var work = 1_000_000
        let found = try LinePattern(pattern).matches(line, work: &work)
        try #require(work >= 0)
        return found
    }

    @Test(arguments: [
        ("URLSession|import Network", "let session = URLSession.shared", true),
        ("URLSession|import Network", "import Network", true),
        ("URLSession|import Network", "import Net", false),
        ("^import Foo$", "import Foo", true),
        ("^import Foo$", "@_implementationOnly import Foo", false),
        ("^import Foo$", "import Foo // why", false),
        ("a.c", "abc", true),
        ("a.c", "ac", false),
        ("ab*c", "ac", true),
        ("ab+c", "ac", false),
        ("ab?c", "abbc", false),
        ("(ab)+c", "xababc", true),
        ("(a|b)*c", "abbac", true),
        ("(a*)*b", "aaab", true),
        ("(a*)*b", "aaaa", false),
        ("x(|y)z", "xz", true),
        ("a{2}", "a", false),
        ("ba{2}b", "baab", true),
        ("ba{2}b", "baaab", false),
        ("ba{2,}b", "baaaab", true),
        ("ba{1,2}b", "baaab", false),
        ("a{0,1}b", "b", true),
        ("catch {}", "catch {}", true),
        ("catch \\{\\s*\\}", "} catch {  }", true),
        ("a{x}", "a{x}", true),
        ("[a-c]x", "bx", true),
        ("[^a-c]x", "bx", false),
        ("[^a-c]x", "dx", true),
        ("[]a]x", "]x", true),
        ("[a-]x", "-x", true),
        ("[-a]x", "-x", true),
        ("[\\w-]+!", "a-b!", true),
        ("[\\]\\\\]x", "\\x", true),
        ("\\bfor\\b", "for x", true),
        ("\\bfor\\b", "before", false),
        ("\\Bfor", "before", true),
        ("try!\\s", "try! run()", true),
        ("\\d+ms", "12ms", true),
        ("\\D\\d$", "12", false),
        ("\\w", "é", true),
        ("\\W", "é", false),
        ("\\S\\s\\S", "a b", true),
        ("(?i)todo", "// ToDo: later", true),
        ("(?i)é", "É", true),
        ("(?i)[a-z]9", "Q9", true),
        ("a(?i:b)c", "aBc", true),
        ("a(?i:b)c", "aBC", false),
        ("(?:ab|cd)e", "cde", true),
        ("\\u{1F600}", "a 😀", true),
        ("\\.shared\\(", "A.shared()", true),
        ("a+?b", "aab", true),
        ("é", "e\u{301}", false),
        ("^$", "", true),
        ("^$", "a", false),
        ("a$|^b", "ca", true),
        ("a$|^b", "cb", false),
    ])
    func `finds what it says`(_ pattern: String, _ line: String, _ found: Bool) throws {
        #expect(try matches(pattern, line) == found)
    }

    @Test(arguments: [
        "", "x*", "a|", "(a|b?)", "(", "(a", "a)", "[", "[a", "[]", "[z-a]", "[a[b]", "*a", "a**", "a{2}{3}", "a{3,2}",
        "a{2000}", "\\", "\\p{L}", "\\1(a)", "(a)\\1", "(?=a)", "(?!a)b", "(?<=a)b", "(?<n>a)b", "(?>a)", "a++",
        "\\u{110000}", "[\\D]", "((a{900}){900}){900}", String(repeating: "a", count: 1_025),
        String(repeating: "(", count: 60) + "a" + String(repeating: ")", count: 60),
    ])
    func `refuses with a sentence`(_ pattern: String) {
        let problem = #expect(throws: LinePatternProblem.self) { try LinePattern(pattern) }
        #expect(problem?.description.isEmpty == false)
    }

    /// An engine that backtracks would need more than the age of the world.
    @Test(arguments: ["(a+)+$", "(a|a)*b", "(a?){30}a{30}b", "(.*a){20}b", "(x+x+)+y"])
    func `hostile lines take linear time`(_ pattern: String) throws {
        let pattern = try LinePattern(pattern)
        func work(_ count: Int) -> Int {
            var work = 1_000_000_000
            _ = pattern.matches(String(repeating: "a", count: count) + "!", work: &work)
            return 1_000_000_000 - work
        }
        let (small, large) = (work(500), work(5_000))
        #expect(large < 12 * max(small, 500))
    }

    @Test func `work that is used up is told`() throws {
        var work = 100
        let found = try LinePattern("(a|b)*c").matches(String(repeating: "ab", count: 10_000), work: &work)
        #expect(!found && work < 0)
    }
}
