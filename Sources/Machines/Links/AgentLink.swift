package import SystemCalls

/// An error of a link that tells a refused request from a machine that can't be used.
package protocol LinkError: Error {
    /// Whether the machine refused what this run asks for, and is good for others.
    var isOfRequest: Bool { get }
}

/// A way to another machine, on which it starts the agent: ssh, Slurm, or a process of this machine.
package protocol AgentLink: Sendable {
    /// Starts `pipectl-agent` on the machine, with its standard input and output at the other end of the stream.
    ///
    /// What the agent or its carrier prints to standard error is none of the stream; a link keeps the last lines of it
    /// for the sentence of ``AgentStream/end(keepsAgent:)``.
    ///
    /// - Throws: Why it can't be started. Its description is a sentence for the report, and nothing is left to end.
    func start() async throws -> AgentStream

    /// Connects with a lasting agent again.
    ///
    /// - Parameter trace: What ``AgentStream/trace`` was.
    /// - Throws: Why that is impossible, as a sentence. The agent may be alive: ``end(_:)`` ends it.
    func resume(_ trace: String) async throws -> AgentStream

    /// Ends a lasting agent, whoever started it.
    func end(_ trace: String) async
}

extension AgentLink {
    package func resume(_ trace: String) async throws -> AgentStream {
        throw LinkProblem(reason: "its agent has ended with its connection")
    }

    package func end(_ trace: String) async {}
}

/// The standard input and output of an agent that was started.
///
/// The agent ends everything that it started, and itself, as soon as its input ends. A lasting agent, which has a
/// ``trace``, does so when it is told to, or after a while without a connection.
package struct AgentStream: Sendable {
    /// What the agent writes: a pipe or a socket, for reading.
    package let output: Descriptor
    /// What the agent reads, for writing. It may be the same as ``output`` if that is a socket.
    package let input: Descriptor
    /// By which a lasting agent is found again, also by another process; nil if the agent ends with its stream.
    package var trace: String?
    private let ending: @Sendable (_ keepsAgent: Bool) async -> String?

    /// Takes over the descriptors.
    ///
    /// - Parameter ending: See ``end(keepsAgent:)``.
    package init(
        output: Descriptor, input: Descriptor, ending: @escaping @Sendable (_ keepsAgent: Bool) async -> String?
    ) {
        self.output = output
        self.input = input
        self.ending = ending
    }

    /// Ends the process that carries the stream, if it is still alive, and waits for that for a limited time.
    ///
    /// Everybody calls it once, after the connection has ended or is of no use any more. Whoever holds the descriptors
    /// closes them by letting go of them.
    ///
    /// - Parameter keepsAgent: Whether a lasting agent goes on; otherwise the link ends it, too.
    /// - Returns: Why the stream ended, as the predicate of a sentence about the machine ("closed the connection",
    ///   "could not be reached any more"); nil if the carrier ended only because of this call, or knows no reason.
    @discardableResult
    package func end(keepsAgent: Bool = false) async -> String? { await ending(keepsAgent) }
}
