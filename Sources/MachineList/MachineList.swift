package import Foundation
package import MachinePool
import Pipeline
package import StateFiles

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// Why the list of machines can't be read or changed, with a sentence for people.
package struct MachineListError: Error, Sendable, Equatable, CustomStringConvertible {
    package enum Code: Sendable, Equatable {
        case unreadable, unwritable, taken, unknown, unusable
    }

    package let code: Code
    package let description: String

    package init(_ code: Code, _ description: String) {
        self.code = code
        self.description = description
    }
}

/// The machines that a person added: `machines.json` in the state folder.
package struct MachineList: Sendable {
    private struct Content: Codable {
        var version = 1
        var machines: [Machine] = []
    }

    /// The most bytes of the file that are read, and the most machines in it.
    private static let limit = (bytes: 4 << 20, machines: 1_000)

    package let path: String
    /// The keys of hosts that were accepted, in ssh's form.
    package let knownHosts: String

    package init(_ folder: StateFolder) {
        path = folder.path + "/machines.json"
        knownHosts = folder.path + "/known_hosts"
    }

    /// The machines by name; none if the file is missing.
    package func machines() throws(MachineListError) -> [Machine] { try machines(in: try bytes()) }

    /// The file's bytes; nil if it is missing.
    package func bytes() throws(MachineListError) -> Data? {
        guard FileManager.default.fileExists(atPath: path) else { return nil }
        do {
            let handle = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
            defer { try? handle.close() }
            let data = try handle.read(upToCount: Self.limit.bytes + 1) ?? Data()
            guard data.count <= Self.limit.bytes else {
                throw MachineListError(.unreadable, "\(path) is too large. Remove it, and add the machines again.")
            }
            return data
        } catch { throw unreadable(error) }
    }

    /// The machines in these bytes of the file, by name.
    package func machines(in bytes: Data?) throws(MachineListError) -> [Machine] {
        guard let bytes else { return [] }
        do {
            let content = try JSONDecoder().decode(Content.self, from: bytes)
            guard content.version == 1 else {
                throw MachineListError(
                    .unreadable, "\(path) was written by a newer pipectl. Use that one, or remove the file.")
            }
            return content.machines.sorted { $0.name < $1.name }
        } catch { throw unreadable(error) }
    }

    private func unreadable(_ error: any Error) -> MachineListError {
        error as? MachineListError
            ?? MachineListError(
                .unreadable, "\(path) can't be read (\(error)). Repair it, or remove it and add the machines again.")
    }

    /// Adds a machine.
    package func add(_ machine: Machine) throws(MachineListError) {
        if let problem = Self.problem(of: machine) { throw MachineListError(.unusable, problem) }
        try change { (machines) throws(MachineListError) in
            guard !machines.contains(where: { $0.name == machine.name }) else {
                throw MachineListError(
                    .taken, "A machine \(machine.name) exists. Choose another --name, or remove that one first.")
            }
            guard machines.count < Self.limit.machines else {
                throw MachineListError(.unusable, "There are \(machines.count) machines, which is the limit.")
            }
            machines.append(machine)
        }
    }

    /// Sets whether runs may start on a machine.
    package func set(_ state: Machine.State, of name: String) throws(MachineListError) {
        try change { (machines) throws(MachineListError) in
            guard let index = machines.firstIndex(where: { $0.name == name }) else { throw Self.unknown(name) }
            machines[index].state = state
        }
    }

    /// Sets the processor of a cluster's nodes.
    package func set(_ processor: ClusterProcessor, of name: String) throws(MachineListError) {
        try change { (machines) throws(MachineListError) in
            guard let index = machines.firstIndex(where: { $0.name == name }) else { throw Self.unknown(name) }
            machines[index] = machines[index].with(processor)
        }
    }

    /// Removes a machine.
    ///
    /// - Returns: What was removed, and whether its address is still used by another one.
    package func remove(_ name: String) throws(MachineListError) -> (machine: Machine, isAddressUsed: Bool) {
        var removed: (Machine, Bool)?
        try change { (machines) throws(MachineListError) in
            guard let index = machines.firstIndex(where: { $0.name == name }) else { throw Self.unknown(name) }
            let machine = machines.remove(at: index)
            removed = (machine, machines.contains { $0.address == machine.address })
        }
        guard let removed else { throw Self.unknown(name) }
        return removed
    }

    private static func unknown(_ name: String) -> MachineListError {
        MachineListError(.unknown, "There is no machine \(name). `pipectl machines` lists them.")
    }

    /// Why a machine can't be added, as a sentence; nil if it can.
    package static func problem(of machine: Machine) -> String? {
        if !machine.name.isPlainName || machine.name.utf8.count > 60 {
            return "\"\(machine.name.prefix(60))\" can't be a machine's name. Use letters, digits, -, _ and ."
        }
        for trait in machine.traits {
            if let problem = trait.problem { return "The label \"\(trait.name.prefix(60))\" \(problem)." }
        }
        if !(1...4_096).contains(machine.cpus) { return "A machine can't have \(machine.cpus) CPUs. Give 1 to 4096." }
        if !(1 << 20...1 << 50).contains(machine.memory) {
            return "A machine can't have \(machine.memory) bytes of memory. Give 1 MiB to 1 PiB."
        }
        if let shared = machine.shared, !shared.hasPrefix("/") || shared.utf8.contains(where: { $0 < 0x20 }) {
            return "\"\(shared.prefix(60))\" is no path of a shared folder. Give its whole path on the machine."
        }
        if !(1...1_000).contains(machine.slots) {
            return "A machine can't have \(machine.slots) slots. Give 1 to 1000."
        }
        return nil
    }

    /// Changes the list while no other process does.
    private func change(
        _ body: (inout [Machine]) throws(MachineListError) -> Void
    ) throws(MachineListError) {
        let lock = open(path + ".lock", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard lock >= 0 else { throw unwritable(String(cString: strerror(errno))) }
        defer { close(lock) }
        while flock(lock, LOCK_EX) != 0 {
            guard errno == EINTR else { throw unwritable(String(cString: strerror(errno))) }
        }
        var content = Content(machines: try machines())
        try body(&content.machines)
        content.machines.sort { $0.name < $1.name }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        do {
            try encoder.encode(content).write(to: URL(fileURLWithPath: path), options: .atomic)
        } catch { throw unwritable("\(error)") }
    }

    private func unwritable(_ reason: String) -> MachineListError {
        MachineListError(
            .unwritable, "\(path) can't be written (\(reason)). Is the state folder yours, and is there room?")
    }
}
