import Machines
import Sandbox

/// The stream of an agent whose bytes a client of this machine carries.
struct CarriedStream: Sendable {
    /// The client could not be started.
    static func start(
        _ words: [String], environment: [String: String], of machine: String,
        ended: @escaping @Sendable (PipedProcess.Ending, _ keepsAgent: Bool) async -> String?
    ) throws -> AgentStream {
        do {
            let (process, socket) = try PipedProcess.start(words, environment: environment)
            return AgentStream(process, socket: socket, reason: ended)
        } catch {
            throw ReachProblem(
                .missingProgram,
                "\(words[0]), which reaches \(machine), can't be started: \(error). Is it installed and in PATH?")
        }
    }
}
