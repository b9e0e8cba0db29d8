package import Pipeline

/// Why no machine can take a run now.
package struct MachineObstacle: Sendable, Equatable, CustomStringConvertible {
    package enum Code: Sendable, Equatable {
        /// There is no machine at all.
        case noMachines
        /// None could ever run it, as the machines are now.
        case noneFits
        /// Those that could are draining or can't be reached.
        case noneReady
        /// Those that could have no room now.
        case busy
    }

    package var code: Code
    /// What is needed, and what keeps each machine, at most ten of them, from being used.
    package var description: String

    /// Whether waiting does not help.
    package var isFinal: Bool { code == .noMachines || code == .noneFits }
}

extension MachinePool {
    /// Why no machine can take a run with these needs now; nil if one can.
    ///
    /// - Parameter scope: The machines that come into question.
    package func obstacle(to needs: MachineNeeds, within scope: MachineScope = .all) -> MachineObstacle? {
        let entries = entries.filter { scope.contains($0.machine.name) }
        let wanted = needs.isEmpty ? "A run" : "A run on \(needs.words.joined(separator: ", "))"
        guard !entries.isEmpty else {
            return MachineObstacle(
                code: .noMachines,
                description: "\(wanted) has no machine: there is none. `pipectl machines add ssh://user@host` adds one."
            )
        }
        let fitting = entries.filter { $0.machine.missing(needs).isEmpty }
        let ready = fitting.filter { $0.machine.state == .ready }
        if ready.contains(where: { $0.free.fits(needs) }) { return nil }
        let reasons = entries.prefix(10).map { entry in
            "\(entry.machine.name): \(entry.reason(against: needs) ?? "it could")"
        }
        let more = entries.count > 10 ? "; and \(entries.count - 10) more" : ""
        let list = reasons.joined(separator: "; ") + more
        if fitting.isEmpty {
            return MachineObstacle(
                code: .noneFits,
                description: "\(wanted) fits on no machine (\(list)). `pipectl machines add ssh://user@host` adds one "
                    + "that offers it; or change what the steps ask for by .on, .cpus or .memory.")
        }
        if ready.isEmpty {
            return MachineObstacle(
                code: .noneReady,
                description: "\(wanted) waits for a machine that may be used (\(list)). `pipectl machines` shows them.")
        }
        return MachineObstacle(code: .busy, description: "\(wanted) waits for a free machine (\(list)).")
    }

    /// Why a machine is not used for a run with these needs, as the rest of a sentence; nil if it can be.
    package func reason(against name: String, _ needs: MachineNeeds = MachineNeeds()) -> String? {
        entries.first { $0.machine.name == name }.flatMap { $0.reason(against: needs) }
    }
}

extension MachinePool.Entry {
    fileprivate func reason(against needs: MachineNeeds) -> String? {
        let missing = machine.missing(needs)
        if !missing.isEmpty { return missing.joined(separator: " and ") }
        switch machine.state {
        case .draining: return "it is draining"
        case .unreachable(let reason): return "it can't be reached: \(reason)"
        case .ready: break
        }
        if free.slots <= 0 { return machine.slots == 1 ? "its slot is busy" : "its \(machine.slots) slots are busy" }
        if let cpus = needs.cpus, cpus > free.cpus {
            return "\(max(free.cpus, 0)) of its \(machine.cpus) CPUs are free"
        }
        if let memory = needs.memory, memory > free.memory {
            return "\(ByteCount(bytes: max(free.memory, 0))) of its memory are free"
        }
        return nil
    }
}
