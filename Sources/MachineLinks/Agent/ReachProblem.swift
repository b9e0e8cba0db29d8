import Machines
import TerminalText

/// Why another machine can't be used, as a value with a sentence for the report.
package struct ReachProblem: LinkError, Sendable, Equatable, CustomStringConvertible {
    package struct Code: RawRepresentable, Hashable, Sendable {
        package let rawValue: String
        package init(rawValue: String) { self.rawValue = rawValue }

        /// `ssh`, `srun` or another program of this machine is missing.
        package static let missingProgram = Code(rawValue: "missing-program")

        /// The machine shows another host key than the pinned one.
        package static let hostKeyChanged = Code(rawValue: "host-key-changed")
        /// No host key is pinned for the machine.
        package static let hostKeyUnknown = Code(rawValue: "host-key-unknown")
        /// The machine refused our key.
        package static let keyRefused = Code(rawValue: "key-refused")
        /// The machine's name has no address.
        package static let nameUnknown = Code(rawValue: "name-unknown")
        /// The machine does not answer, or the connection was lost.
        package static let unreachable = Code(rawValue: "unreachable")

        /// There is no room there for the agent.
        package static let diskFull = Code(rawValue: "disk-full")
        /// The agent for that platform is neither here nor there.
        package static let agentMissing = Code(rawValue: "agent-missing")
        /// The agent can't be put there.
        package static let agentNotPlaced = Code(rawValue: "agent-not-placed")
        /// What arrived there is not what was sent.
        package static let damagedInTransit = Code(rawValue: "damaged-in-transit")

        /// Slurm will never give this allocation, and may give others.
        package static let allocationRefused = Code(rawValue: "allocation-refused")
        /// The allocation ended before the agent was started.
        package static let allocationLost = Code(rawValue: "allocation-lost")
        /// Slurm accepted the allocation and then forgot it, again and again.
        package static let allocationForgotten = Code(rawValue: "allocation-forgotten")
        /// Slurm's controller does not answer.
        package static let controllerUnreachable = Code(rawValue: "controller-unreachable")
        /// Slurm's commands print what we can't read.
        package static let unknownAnswer = Code(rawValue: "unknown-answer")
    }

    package let code: Code
    package let description: String

    package init(_ code: Code, _ description: String) {
        self.code = code
        self.description = description
    }

    package var isOfRequest: Bool { code == .allocationRefused }

    /// The last line that says something in what a program or machine printed, safe to show and of limited length.
    static func lastWords(of text: String) -> String {
        let lines = text.suffix(4_096).split(whereSeparator: \.isNewline)
        let said = lines.last { line in line.contains { !$0.isWhitespace } }
        return TerminalText.name(said.map(String.init) ?? "")
    }
}
