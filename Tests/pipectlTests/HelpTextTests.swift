import TestBasics
import ArgumentParser
import Foundation
import CommandHelp
import Testing

@testable import pipectl

/// The help of each command.
@Suite struct HelpTextTests {
    private static func commands(
        below command: any ParsableCommand.Type, _ words: [String] = []
    ) -> [(words: [String], type: any ParsableCommand.Type)] {
        command.configuration.subcommands.filter { $0.configuration.shouldDisplay }.flatMap { sub in
            let own = words + [sub.configuration.commandName ?? ""]
            return [(own, sub)] + commands(below: sub, own)
        }
    }

    @Test func `every command has examples that parse`() throws {
        for (words, type) in Self.commands(below: Pipectl.self) {
            let command = words.joined(separator: " ")
            let examples = HelpExamples.all[command] ?? []
            #expect(!examples.isEmpty, "\(command) has no examples")
            for example in examples {
                let arguments = Self.arguments(of: example.line)
                #expect(arguments.starts(with: words), "\(example.line)")
                do { _ = try Pipectl.parseAsRoot(arguments) } catch {
                    Issue.record("\(example.line): \(Pipectl.fullMessage(for: error))")
                }
            }
            let help = try #require(HelpText(Pipectl.helpMessage(for: type)))
            #expect(help.command == command)
            #expect(help.shown.contains("EXAMPLES:\n  "))
            #expect(!type.configuration.discussion.contains("Example"), "\(command) has its examples in two places")
        }
    }

    /// The words after `pipectl`, as a shell would split them.
    private static func arguments(of line: String) -> [String] {
        let call = line.components(separatedBy: "pipectl ").dropFirst().first ?? ""
        var words: [String] = []
        var word = ""
        var quote: Character?
        for character in call {
            if let open = quote {
                if character == open { quote = nil } else { word.append(character) }
            } else if character == "'" || character == "\"" {
                quote = character
            } else if character == "|" || character == "<" || character == ">" || character == "&" {
                break
            } else if character == " " {
                if !word.isEmpty { words.append(word) }
                word = ""
            } else {
                word.append(character)
            }
        }
        return word.isEmpty ? words : words + [word]
    }

    @Test func `the daemon's options come last`() throws {
        let help = try #require(HelpText(Pipectl.helpMessage(for: Watch.self)))
        let titles = help.shown.split(separator: "\n").filter { $0.hasSuffix(":") && $0.first?.isUppercase == true }
        #expect(titles == ["EXAMPLES:", "ARGUMENTS:", "OPTIONS:", "\(HelpText.daemon.uppercased()):"])
        // No line of the parser's text is lost.
        for line in Pipectl.helpMessage(for: Watch.self).split(separator: "\n") { #expect(help.shown.contains(line)) }
    }

    @Test(arguments: ["#!/bin/bash\n", "#compdef pipectl\n", "0.1", "Error: no such option", ""])
    func `other messages stay unchanged`(text: String) {
        #expect(HelpText(text) == nil)
    }
}
