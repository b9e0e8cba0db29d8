import Engine
import Foundation
package import Pipeline
import Reports
import Results
import Store
import TerminalText

/// The question for one parameter of a workflow, and the meaning of the answer.
package struct ParameterQuestion {
    package var declaration: ParameterDeclaration

    /// Lines that explain the parameter, and last the prompt without a line feed. Safe for a terminal.
    var text: String {
        let name = TerminalText.name(declaration.name)
        let help = declaration.help.isEmpty ? "" : "\(name): \(TerminalText.name(declaration.help, limit: 1_000))\n"
        return help + "\(name) (\(TerminalText.name(facts, limit: 1_000))): "
    }

    /// The type or the choices, and the value that an empty line means.
    private var facts: String {
        let type =
            switch declaration.kind {
            case .string: "text"
            case .integer: "a whole number"
            case .bool: "true or false"
            case .choice: "one of \(declaration.choices.joined(separator: ", "))"
            }
        guard let value = declaration.defaultValue else { return "\(type), required" }
        return "\(type); Enter for \(value.isEmpty ? "none" : value)"
    }

    /// The value of a typed line; an empty line means the default.
    func answer(_ line: String) -> Result<String, ParameterProblem> {
        // Spaces may belong to a text; for other types they are typing errors.
        let text = declaration.kind == .string ? line : line.trimmingCharacters(in: .whitespaces)
        return declaration.value(given: text.isEmpty ? nil : text)
    }
}

/// Selects the parameters to ask for.
package enum ParameterQuestions {
    /// Empty if every required parameter has a value. Otherwise all parameters without one, in the order of the
    /// definition, so that the person can also change defaults.
    package static func missing(
        _ declarations: [ParameterDeclaration], given: [String: String]
    ) -> [ParameterQuestion] {
        let open = declarations.filter { given[$0.name] == nil }
        guard open.contains(where: { $0.defaultValue == nil }) else { return [] }
        return open.map(ParameterQuestion.init)
    }

    /// Asks until each question has a value.
    ///
    /// - Parameters:
    ///   - read: Returns the next typed line, without its line feed; nil at the end of the input.
    ///   - write: Shows text to the person.
    /// - Returns: The values by name; nil if the input ended before.
    package static func answers(
        to questions: [ParameterQuestion], read: () -> String?, write: (String) -> Void
    ) -> [String: String]? {
        var values: [String: String] = [:]
        for question in questions {
            while values[question.declaration.name] == nil {
                write(question.text)
                guard let line = read() else { return nil }
                switch question.answer(line) {
                case .success(let value): values[question.declaration.name] = value
                case .failure(let problem): write(Self.words(problem, line) + "\n")
                }
            }
        }
        return values
    }

    private static func words(_ problem: ParameterProblem, _ line: String) -> String {
        // The parameter's own message names `--param`, which does not help here.
        line.trimmingCharacters(in: .whitespaces).isEmpty
            ? "a value is required" : TerminalText.name(problem.description, limit: 1_000)
    }
}
