import Foundation
import Pipeline
import Testing

@testable import Client

@Suite struct ParameterQuestionTests {
    private let version = Parameter<String>("version", help: "What is\u{1b}[2J published.").declaration
    private let count = Parameter("count", default: 3).declaration
    private let system = Parameter("system", choices: ["linux", "macos"]).declaration
    private let dry = Parameter("dry", default: false).declaration

    @Test func `a question names help, type, choices and default`() {
        let text = ParameterQuestion(declaration: version).text
        #expect(text.hasPrefix("version: What is") && text.hasSuffix("version (text, required): "))
        #expect(!text.contains("\u{1b}"), "a definition can't act on the terminal")
        #expect(ParameterQuestion(declaration: count).text == "count (a whole number; Enter for 3): ")
        #expect(ParameterQuestion(declaration: system).text == "system (one of linux, macos, required): ")
        #expect(ParameterQuestion(declaration: dry).text == "dry (true or false; Enter for false): ")
    }

    @Test func `an answer is a value or refused`() {
        #expect((try? ParameterQuestion(declaration: version).answer(" 1 2").get()) == " 1 2")
        #expect((try? ParameterQuestion(declaration: version).answer("").get()) == nil)
        #expect((try? ParameterQuestion(declaration: count).answer("").get()) == "3")
        #expect((try? ParameterQuestion(declaration: count).answer(" 12 ").get()) == "12")
        #expect((try? ParameterQuestion(declaration: count).answer("many").get()) == nil)
        #expect((try? ParameterQuestion(declaration: system).answer("macos").get()) == "macos")
        #expect((try? ParameterQuestion(declaration: system).answer("windows").get()) == nil)
        #expect((try? ParameterQuestion(declaration: dry).answer("yes").get()) == "true")
    }

    @Test func `questions are asked only if a required parameter has no value`() {
        func asked(_ given: [String: String]) -> [String] {
            ParameterQuestions.missing([version, count, system], given: given).map(\.declaration.name)
        }
        #expect(asked([:]) == ["version", "count", "system"])
        #expect(asked(["version": "1"]) == ["count", "system"])
        #expect(asked(["version": "1", "system": "linux"]) == [], "a default needs no question")
    }

    @Test func `a refused answer is asked for again`() {
        var lines = ["", "1.0", "many", "", "linux"]
        var shown = ""
        let questions = ParameterQuestions.missing([version, count, system], given: [:])
        let values = ParameterQuestions.answers(
            to: questions, read: { lines.isEmpty ? nil : lines.removeFirst() }, write: { shown += $0 })
        #expect(values == ["version": "1.0", "count": "3", "system": "linux"])
        #expect(shown.components(separatedBy: "version (").count == 3)
        #expect(shown.components(separatedBy: "count (").count == 3)
        #expect(!shown.contains("--param"), "nobody can add an option now")
    }

    @Test func `the end of the input is no answer`() {
        let questions = ParameterQuestions.missing([version], given: [:])
        #expect(ParameterQuestions.answers(to: questions, read: { nil }, write: { _ in }) == nil)
    }
}
