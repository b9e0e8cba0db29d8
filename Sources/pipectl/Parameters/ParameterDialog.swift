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

/// Asks the person at the terminal for required parameters that have no value.
enum ParameterDialog {
    /// The parameters of `request`, completed.
    ///
    /// Without a terminal it asks nothing, and the run reports what is missing.
    ///
    /// - Throws: ``CommandEnd`` with code 2 if the input ends before each parameter has a value.
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

    /// Nil if the definition can't be read; the run reports the reason.
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
