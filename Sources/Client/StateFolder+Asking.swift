package import BuildBox
package import Control
import StateFiles

extension StateFolder {
    /// Asks the daemon, or the state where no daemon runs, a question that has one answer.
    ///
    /// - Parameters:
    ///   - purpose: What the state is opened for, as another command would be told.
    ///   - options: Asked for only where no daemon runs.
    ///   - pick: The answer in a reply; nil for replies that have none.
    /// - Throws: ``RequestError`` where the request is refused, or no reply has an answer.
    package func ask<Answer: Sendable>(
        _ request: DaemonRequest, _ purpose: String, options: @autoclosure () throws -> BoxOptions,
        _ pick: @Sendable (DaemonReply) -> Answer?
    ) async throws -> Answer {
        let access = try await DaemonAccess.open(self, purpose: purpose, options: options(), log: Log.quiet)
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
