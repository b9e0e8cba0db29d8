import Foundation

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// The limits of a control group; nil means no limit.
package struct GroupLimits: Sendable, Equatable {
    /// In bytes.
    package var memory: Int?
    /// Number of processes and threads.
    package var processes: Int?
    /// Whether the kernel kills all of the group's processes, and not one of them, when memory runs out (version 2
    /// only). This suits a step: a build that goes on without one of its processes hangs or gives wrong results. It
    /// does not suit a run, whose group also contains `stepinit`.
    package var endsTogether = false

    /// Limits of a group; nil means no limit.
    package init(memory: Int? = nil, processes: Int? = nil, endsTogether: Bool = false) {
        self.memory = memory
        self.processes = processes
        self.endsTogether = endsTogether
    }
}

/// The usage of a group's processes so far.
package struct GroupUsage: Sendable, Equatable {
    /// Processor time in seconds.
    package var cpuTime = 0.0
    /// Number of processes that the kernel killed because memory ran out.
    package var outOfMemoryKills = 0
    /// How often the group reached its own memory limit and got no memory; nil where the kernel does not count that
    /// (version 1).
    package var memoryLimitHits: Int?
    /// Number of processes that could not be started because of the limit of processes.
    package var refusedProcesses = 0

    /// No usage.
    package init() {}

    /// The usage since `earlier`.
    package func since(_ earlier: GroupUsage) -> GroupUsage {
        var difference = self
        difference.cpuTime -= earlier.cpuTime
        difference.outOfMemoryKills -= earlier.outOfMemoryKills
        difference.memoryLimitHits = memoryLimitHits.map { $0 - (earlier.memoryLimitHits ?? 0) }
        difference.refusedProcesses -= earlier.refusedProcesses
        return difference
    }
}

/// One control group: a folder in each hierarchy that it is part of.
package struct ControlGroup: Sendable {
    enum Controller: String, Sendable { case unified, memory, pids, cpuacct }

    let folders: [Controller: String]
    /// Whether it contains groups with limits: see ``divided()``.
    private(set) var isDivided = false

    init(folders: [Controller: String]) { self.folders = folders }

    /// The child group with this name, whether it exists or not.
    func child(named name: String) -> ControlGroup { ControlGroup(folders: folders.mapValues { "\($0)/\(name)" }) }

    /// Creates a child group unless it exists.
    package func child(_ name: String, _ limits: GroupLimits) throws -> ControlGroup {
        let group = child(named: name)
        do {
            for folder in group.folders.values where mkdir(folder, 0o755) != 0 && errno != EEXIST {
                throw ControlGroupProblem("\(folder) can't be made: \(String(cString: strerror(errno)))")
            }
            try group.set(limits, after: GroupLimits())
        } catch {
            group.remove()
            throw error
        }
        return group
    }

    /// - Parameter earlier: The limits that are set so far.
    func set(_ limits: GroupLimits, after earlier: GroupLimits) throws {
        if limits.memory != earlier.memory {
            let memory = limits.memory.map(String.init)
            if let folder = folders[.unified] {
                try write(memory ?? "max", to: "\(folder)/memory.max")
                try? write(memory == nil ? "max" : "0", to: "\(folder)/memory.swap.max")
            } else if let folder = folders[.memory] {
                // The second limit is never below the first.
                if earlier.memory != nil { try? write("-1", to: "\(folder)/memory.memsw.limit_in_bytes") }
                try write(memory ?? "-1", to: "\(folder)/memory.limit_in_bytes")
                if let memory { try? write(memory, to: "\(folder)/memory.memsw.limit_in_bytes") }
            }
        }
        if limits.endsTogether != earlier.endsTogether, let folder = folders[.unified] {
            try? write(limits.endsTogether ? "1" : "0", to: "\(folder)/memory.oom.group")
        }
        if limits.processes != earlier.processes, let folder = folders[.unified] ?? folders[.pids] {
            try write(limits.processes.map(String.init) ?? "max", to: "\(folder)/pids.max")
        }
    }

    /// The controllers that groups of version 2 must have.
    static let needed = ["memory", "pids"]
    /// The name of the child group for processes in a divided group that are in no other child of it.
    static let restName = "rest"

    /// Returns this group, ready to contain both processes and groups with limits; it must be empty.
    ///
    /// A group of version 2 contains either processes or groups with limits, never both (cgroups(7), "no internal
    /// processes"), so processes of this group are put into ``rest``. Version 1 has no such rule.
    func divided() throws -> ControlGroup {
        guard folders[.unified] != nil else { return self }
        try allowGroups()
        var group = self
        group.isDivided = true
        _ = try group.child(ControlGroup.restName, GroupLimits())
        return group
    }

    /// Allows groups with limits in this group (version 2 only); no process may be in it.
    ///
    /// Call this level by level from the top: a group can pass on only the controllers that it has itself.
    func allowGroups() throws {
        guard let folder = folders[.unified] else { return }
        for controller in ControlGroup.needed { try write("+\(controller)", to: "\(folder)/cgroup.subtree_control") }
        // With this controller each run has the same share of the processors. Not every user is given it, and no limit
        // needs it.
        try? write("+cpu", to: "\(folder)/cgroup.subtree_control")
    }

    /// The group for processes that have no child group of their own.
    package var rest: ControlGroup { isDivided ? child(named: ControlGroup.restName) : self }

    /// Moves a whole process into the group (version 2 only).
    func take(_ process: pid_t) throws {
        guard let folder = folders[.unified] else { return }
        do {
            try write(String(process), to: "\(folder)/cgroup.procs")
        } catch {
            // The process has ended meanwhile.
            guard kill(process, 0) == 0 || errno != ESRCH else { return }
            throw error
        }
    }

    /// Opens the files through which a process with one thread enters the group, by writing `0`. The caller closes
    /// them.
    ///
    /// Moving a whole process takes a lock that waits for all processors; a thread that moves itself does not take it
    /// (Linux 5.5, `cgroup_procs_write_start`). Version 2 has no such file for a group with limits.
    func entrances() throws -> [Int32] {
        var files: [Int32] = []
        for (controller, folder) in folders {
            let entrance = controller == .unified ? "cgroup.procs" : "tasks"
            let file = open("\(folder)/\(entrance)", O_WRONLY | O_CLOEXEC)
            guard file >= 0 else {
                let problem = errno
                files.forEach(closeFile)
                throw ControlGroupProblem("\(folder) can't be entered: \(String(cString: strerror(problem)))")
            }
            files.append(file)
        }
        return files
    }

    /// The number of descriptors that ``entrances()`` returns.
    package var count: Int { folders.count }

    var isThereInPart: Bool { folders.values.contains { access($0, F_OK) == 0 } }

    /// The file whose line `oom_kill` counts the processes of this group, without its children, that the kernel killed
    /// because memory ran out.
    var killsFile: String? {
        folders[.memory].map { "\($0)/memory.oom_control" }
            ?? rest.folders[.unified].map { "\($0)/memory.events.local" }
    }

    /// The files whose line `max` counts the processes that could not be started, without those of child groups.
    ///
    /// Version 2 counts a refusal in the group of the refused process, and since Linux 6.11 in the group whose limit it
    /// was; then a separate file leaves out the child groups.
    var refusalsFiles: [String] {
        if let folder = folders[.pids] { return ["\(folder)/pids.events"] }
        guard let folder = folders[.unified] else { return [] }
        guard isDivided, let rest = rest.folders[.unified] else { return ["\(folder)/pids.events"] }
        return ["\(rest)/pids.events", "\(folder)/pids.events.local"]
    }

    /// Number of its processes that the kernel killed because memory ran out.
    package var outOfMemoryKills: Int { killsFile.flatMap { value("oom_kill", in: $0) } ?? 0 }

    package var usage: GroupUsage {
        var usage = GroupUsage()
        usage.outOfMemoryKills = outOfMemoryKills
        if let folder = folders[.unified] {
            usage.cpuTime = Double(value("usage_usec", in: "\(folder)/cpu.stat") ?? 0) / 1e6
            usage.memoryLimitHits = value("oom", in: "\(folder)/memory.events.local")
        }
        if let folder = folders[.cpuacct] { usage.cpuTime = Double(number("\(folder)/cpuacct.usage") ?? 0) / 1e9 }
        usage.refusedProcesses = refusalsFiles.reduce(0) { $0 + (value("max", in: $1) ?? 0) }
        return usage
    }

    /// Removes the group; the kernel may need a moment to forget its last process.
    package func remove() {
        if isDivided { rest.remove() }
        for folder in folders.values {
            for _ in 0..<50 {
                if rmdir(folder) == 0 || errno != EBUSY { break }
                usleep(1_000)
            }
        }
    }

    private func write(_ value: String, to path: String) throws {
        let file = open(path, O_WRONLY | O_CLOEXEC)
        guard file >= 0 else { throw ControlGroupProblem("\(path): \(String(cString: strerror(errno)))") }
        defer { closeFile(file) }
        let text = Array(value.utf8)
        guard text.withUnsafeBytes({ writeAll(file, $0) }) == text.count else {
            throw ControlGroupProblem("\(path) does not take \(value): \(String(cString: strerror(errno)))")
        }
    }

    /// These files are read for every step, and Foundation takes ten times as long to read one.
    private func text(_ path: String) -> String? {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { closeFile(file) }
        return String(
            unsafeUninitializedCapacity: 4_096, initializingUTF8With: { max(readSome(file, $0), 0) })
    }

    private func number(_ path: String) -> Int? {
        text(path).flatMap { Int($0.trimmingCharacters(in: .whitespacesAndNewlines)) }
    }

    /// The number after `key` in a file of lines `key number`.
    private func value(_ key: String, in path: String) -> Int? {
        for line in text(path)?.split(separator: "\n") ?? [] {
            let parts = line.split(separator: " ")
            if parts.count == 2, parts[0] == key { return Int(parts[1]) }
        }
        return nil
    }
}

/// Why a control group can't be used.
struct ControlGroupProblem: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}

private func writeAll(_ file: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
    write(file, bytes.baseAddress, bytes.count)
}

private func readSome(_ file: Int32, _ bytes: UnsafeMutableBufferPointer<UInt8>) -> Int {
    read(file, bytes.baseAddress, bytes.count)
}
