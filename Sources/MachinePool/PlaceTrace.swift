/// By which a run's place on another machine is found again when the connection or the daemon was lost, while its steps
/// go on there.
package struct PlaceTrace: Sendable, Equatable, Codable {
    package var machine: String
    /// What the link to the machine knows it by.
    package var agent: String
    /// What its workspace started from, in words of those who made it; nil if they have none.
    package var workspace: String?
    /// The compiler and the packages of the machine.
    package var tools: String?

    package init(machine: String, agent: String, workspace: String? = nil, tools: String? = nil) {
        (self.machine, self.agent, self.workspace, self.tools) = (machine, agent, workspace, tools)
    }
}

/// Why a place can't be taken over, as a sentence. Nothing is left of it.
package struct PlaceNotAdopted: Error, Sendable, Equatable, CustomStringConvertible {
    package var reason: String
    package var description: String { reason }

    package init(reason: String) { self.reason = reason }
}
