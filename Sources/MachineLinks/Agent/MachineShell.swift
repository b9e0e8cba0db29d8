import Results
import Sandbox

/// A way to run a program on another machine: `ssh`, or `srun` in an allocation.
protocol MachineShell: Sendable {
    /// The machine, as reports name it.
    var name: String { get }
    /// The environment of the client on this machine.
    var environment: [String: String] { get }
    /// The command of this machine that runs a script of the POSIX shell there.
    func words(running script: String) -> [String]
    /// What the client's own failure means; nil if what ended was the script.
    func problem(_ code: Int32, _ complaint: String) -> ReachProblem?
}

extension MachineShell {
    /// Runs a short script there.
    ///
    /// - Parameters:
    ///   - file: What it reads from standard input; nil for nothing.
    ///   - deadline: The time limit.
    /// - Returns: How it ended, and what it printed to both outputs.
    /// - Throws: ``ReachProblem``, if the machine could not be reached; `CancellationError`.
    func run(_ script: String, reading file: String? = nil, deadline: Duration) async throws -> (
        code: Int32, output: String
    ) {
        // A shell of this machine opens the file, so that its content does not go through our memory.
        let words = ["/bin/sh", "-c", #"exec "$@" <"$0""#, file ?? "/dev/null"] + words(running: script)
        let command = ExternalCommand(
            words[0], Array(words.dropFirst()), in: "/", environment: environment, deadline: deadline,
            outputLimit: 64 << 10)
        let ended: ExternalCommandResult
        do { ended = try await command.run() } catch let error as ExternalCommandError {
            throw ReachProblem(.missingProgram, error.description)
        }
        switch ended.ending {
        case .exited(let code):
            if let problem = problem(code, ended.text) { throw problem }
            return (code, ended.text)
        case .signal(let signal):
            throw ReachProblem(
                .unreachable, "The client that reaches \(name) was ended by signal \(signal). Start the run again.")
        case .deadline(let limit):
            throw ReachProblem(
                .unreachable,
                "\(name) did not answer within \(limit.inWords). Is it running, and is its network? "
                    + "The run can be started again.")
        }
    }
}
