package import Control
package import StateFiles

/// A state folder, and how its questions are answered if no daemon runs.
package struct StateAccess: Sendable {
    /// The folder.
    package let folder: StateFolder
    /// Opens the state in this process.
    private let own: @Sendable (_ purpose: String) async throws -> any OwnDaemon

    /// - Parameter own: Opens the state in this process for a command, which other commands see as its purpose. It is
    ///   called only if no daemon runs.
    package init(_ folder: StateFolder, own: @escaping @Sendable (_ purpose: String) async throws -> any OwnDaemon) {
        (self.folder, self.own) = (folder, own)
    }

    /// The running daemon, or one in this process.
    package func open(_ purpose: String) async throws -> DaemonAccess {
        try await DaemonAccess.open(folder) { try await own(purpose) }
    }

    /// Asks the daemon a question with one answer, or reads the state if no daemon runs.
    ///
    /// - Parameters:
    ///   - purpose: The command for which the state is opened, as other commands see it.
    ///   - pick: Returns the answer in a reply; nil if the reply has none.
    /// - Throws: ``RequestError`` if the request is refused, or if no reply has an answer.
    package func ask<Answer: Sendable>(
        _ request: DaemonRequest, _ purpose: String, _ pick: @Sendable (DaemonReply) -> Answer?
    ) async throws -> Answer {
        let access = try await open(purpose)
        let answers = PickedAnswer<Answer>()
        do {
            try await access.ask(request) { reply in if let answer = pick(reply) { await answers.take(answer) } }
        } catch {
            await access.close()
            throw error
        }
        await access.close()
        guard let answer = await answers.answer else {
            throw RequestError(
                .usage, "the daemon gave an unexpected answer; is it another version of pipectl?", origin: .daemon)
        }
        return answer
    }
}

private actor PickedAnswer<Answer: Sendable> {
    private(set) var answer: Answer?
    func take(_ answer: Answer) { self.answer = answer }
}
