package import MachinePool
package import Machines
import Sandbox

/// Starts the agent on a machine that is reached by ssh.
///
/// The machine's key must be pinned. Nothing of this machine is reachable from there: neither the user's ssh-agent nor
/// any port is forwarded. What runs there ends with the connection, since the agent's input ends then.
package struct SSHLink: AgentLink {
    package let address: SSHAddress
    private let shell: SSHShell
    private let programs: [AgentPrograms]

    /// - Parameter programs: The agent, for each platform that we have it for. A machine of another platform must have
    ///   it installed.
    package init(_ address: SSHAddress, _ settings: SSHSettings, _ programs: [AgentPrograms]) {
        self.address = address
        shell = SSHShell(address: address, settings: settings)
        self.programs = programs
    }

    package func start() async throws -> AgentStream {
        try shell.prepare()
        let script = try await AgentPlacing(shell: shell, programs: programs).script()
        return try CarriedStream.start(
            shell.words(running: script), environment: shell.environment, of: shell.name
        ) { ending, _ in
            guard ending.isOwn else { return nil }
            return SSHFailure.end(exitCode: ending.exitCode, signal: ending.signal, complaint: ending.complaint)
        }
    }

    /// Connects and asks the machine for its platform.
    ///
    /// - Throws: ``ReachProblem``, `CancellationError`.
    package func platform() async throws -> MachinePlatform {
        try shell.prepare()
        return try await AgentPlacing(shell: shell, programs: programs).look().platform
    }

    /// Ends the shared connection, and with it every session. Without a call it ends soon after its last session.
    package func close() async {
        guard shell.socket != nil else { return }
        // It fails if there is no connection, which is what is wanted.
        _ = await LastCommand(words: shell.closing, environment: shell.environment, limit: .seconds(10)).output()
    }
}
