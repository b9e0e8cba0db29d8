package import SystemCalls

/// A way to another machine, on which it starts the agent: ssh, Slurm, or a process of this machine.
package protocol AgentLink: Sendable {
    /// Starts `pipectl-agent` on the machine, with its standard input and output at the other end of the stream.
    ///
    /// What the agent or its carrier prints to standard error is none of the stream; a link keeps the last lines of it
    /// for the sentence of ``AgentStream/end()``.
    ///
    /// - Throws: Why it can't be started. Its description is a sentence for the report, and nothing is left to end.
    func start() async throws -> AgentStream
}

/// The standard input and output of an agent that was started.
///
/// The agent ends everything that it started, and itself, as soon as its input ends.
package struct AgentStream: Sendable {
    /// What the agent writes: a pipe or a socket, for reading.
    package let output: Descriptor
    /// What the agent reads, for writing. It may be the same as ``output`` if that is a socket.
    package let input: Descriptor
    private let ending: @Sendable () async -> String?

    /// Takes over the descriptors.
    ///
    /// - Parameter ending: See ``end()``.
    package init(output: Descriptor, input: Descriptor, ending: @escaping @Sendable () async -> String?) {
        self.output = output
        self.input = input
        self.ending = ending
    }

    /// Ends the process that carries the stream, if it is still alive, and waits for that for a limited time.
    ///
    /// Everybody calls it once, after the connection has ended or is of no use any more. Whoever holds the descriptors
    /// closes them by letting go of them.
    ///
    /// - Returns: Why the stream ended, as the predicate of a sentence about the machine ("closed the connection",
    ///   "could not be reached any more"); nil if the carrier ended only because of this call, or knows no reason.
    package func end() async -> String? { await ending() }
}
