import BuildBox
import Client
import Control
import Foundation
import Pipeline
import Reports
import Results
import Store
import TerminalText

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// Asks the person at the terminal for parameters that a run needs and that were not given.
enum ParameterDialog {
    /// The parameters of `request`, completed.
    ///
    /// Without a terminal nothing is asked: the run itself names what is missing.
    ///
    /// - Throws: ``CommandEnd`` with code 2 where the input ends before each parameter has a value.
    static func complete(_ request: StartRequest, _ access: DaemonAccess) async throws -> [String: String] {
        guard isatty(0) == 1, Terminal.errorIsTerminal, let known = await declared(by: request, access) else {
            return request.parameters
        }
        let questions = ParameterQuestions.missing(known, given: request.parameters)
        guard !questions.isEmpty else { return request.parameters }
        let answers = ParameterQuestions.answers(
            to: questions, read: { readLine() }, write: { Terminal.write($0, to: 2) })
        guard let answers else {
            let names = questions.filter { $0.declaration.defaultValue == nil }.map {
                "--param \($0.declaration.name)=…"
            }
            // The prompt has no line feed.
            Terminal.say("")
            throw CommandEnd(
                code: 2, message: "no run was started: parameters have no value; add \(names.joined(separator: " "))")
        }
        return request.parameters.merging(answers) { $1 }
    }

    /// Nil where the definition can't be read: the run itself says why.
    private static func declared(
        by request: StartRequest, _ access: DaemonAccess
    ) async -> [ParameterDeclaration]? {
        let found = Declared()
        try? await access.ask(.parameters(request)) { reply in
            if case .parameters(let parameters) = reply { await found.set(parameters) }
        }
        return await found.parameters
    }
}

private actor Declared {
    private(set) var parameters: [ParameterDeclaration]?
    func set(_ parameters: [ParameterDeclaration]) { self.parameters = parameters }
}
