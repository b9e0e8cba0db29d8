import CommandHelp
import Testing

@testable import pipectl

/// A misspelt command.
@Suite struct CommandSuggestionTests {
    @Test(
        arguments: [
            (["rnus"], "\"runs\""), (["rnus", "--json"], "\"runs\""), (["secrets", "lst"], "\"list\""),
            (["valdate", "--folder", "x"], "\"validate\""),
        ] as [([String], String)])
    func `the nearest command is named`(words: [String], name: String) throws {
        let sentence = try #require(CommandSuggestion.sentence(for: words, below: Pipectl.self))
        #expect(sentence.contains("Did you mean \(name)?"), "\(sentence)")
    }

    @Test func `a word that is near to none gets no guess`() throws {
        let sentence = try #require(CommandSuggestion.sentence(for: ["deploy-to-mars"], below: Pipectl.self))
        #expect(!sentence.contains("Did you mean"))
    }

    @Test(arguments: [["runs", "--nosuch"], ["--nosuch"], ["run"], ["secrets"], ["help", "runs"], []])
    func `a wrong argument of a command is the parser's`(words: [String]) {
        #expect(CommandSuggestion.sentence(for: words, below: Pipectl.self) == nil)
    }
}
