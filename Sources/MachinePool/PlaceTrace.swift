/// By which a run's place on another machine is found again when the connection or the daemon was lost, while its steps
/// go on there.
package struct PlaceTrace: Sendable, Equatable, Codable {
    package var machine: String
    /// What the link to the machine knows it by.
    package var agent: String
    /// What its workspace started from, in words of those who made it; nil if they have none.
    package var workspace: String?

    package init(machine: String, agent: String, workspace: String? = nil) {
        (self.machine, self.agent, self.workspace) = (machine, agent, workspace)
    }
}

/// Why a place can't be taken over, as a sentence. Nothing is left of it.
package struct PlaceNotAdopted: Error, Sendable, Equatable, CustomStringConvertible {
    package var reason: String
    package var description: String { reason }

    package init(reason: String) { self.reason = reason }
}
