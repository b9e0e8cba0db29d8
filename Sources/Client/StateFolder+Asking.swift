package import Control
import StateFiles
import Daemon
package import Preparing

extension StateFolder {
    /// Asks the daemon a question with one answer, or reads the state if no daemon runs.
    ///
    /// - Parameters:
    ///   - purpose: The command for which the state is opened, as other commands see it.
    ///   - options: The daemon's settings; called only if no daemon runs.
    ///   - pick: Returns the answer in a reply; nil if the reply has none.
    /// - Throws: ``RequestError`` if the request is refused, or if no reply has an answer.
    package func ask<Answer: Sendable>(
        _ request: DaemonRequest, _ purpose: String, options: @autoclosure () throws -> DaemonOptions,
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
