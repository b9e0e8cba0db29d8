import Foundation
import Synchronization

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// The box's control groups (cgroups(7)), which count and limit all processes of a step together.
///
/// Version 2 where the box's own group is delegated to it (a systemd service with `Delegate=yes`), else version 1 where
/// its controllers can be written to, as root can. Where there is neither, ``find()`` gives nil and each process is
/// limited by itself.
public struct ControlGroups: Sendable {
    /// Which interface is used, for people: `cgroup v2`.
    public let kind: String
    /// The box's group; runs are groups in it.
    private let root: ControlGroup
    private let shelf = GroupShelf()

    /// Makes the box's group and removes those of boxes that are gone.
    public static func find() -> ControlGroups? {
        #if os(Linux)
            guard let text = try? String(contentsOfFile: "/proc/self/cgroup", encoding: .utf8) else { return nil }
            let own = OwnGroups(text)
            if let root = own.version2() { return ControlGroups(kind: "cgroup v2", root: root) }
            if let root = own.version1() { return ControlGroups(kind: "cgroup v1", root: root) }
        #endif
        return nil
    }

    /// Removes the box's group, when all runs have ended.
    public func close() {
        shelf.clear()
        root.remove()
    }

    /// The group of a run, which is made, or has served another, if there is none yet.
    ///
    /// - Parameter limits: The run's; nil while nothing goes on in it.
    func run(named name: String, _ limits: GroupLimits?) throws -> ControlGroup {
        try shelf.take(name, limits, in: root)
    }

    /// Takes back the group of a run whose last process has ended.
    ///
    /// - Parameter mayServe: Whether another run may have it: nothing of this one can have changed it.
    func giveBack(_ name: String, mayServe: Bool) { shelf.giveBack(name, mayServe: mayServe) }
}

/// What a group limits; nil means nothing.
struct GroupLimits: Sendable, Equatable {
    /// Bytes.
    var memory: Int?
    var processes: Int?
}

/// What a group's processes have come to.
struct GroupUsage: Sendable, Equatable {
    /// Seconds of processor time, so far.
    var cpuTime = 0.0
    /// Processes that the kernel killed because the memory was used up.
    var outOfMemoryKills = 0
    /// Processes that could not be started because there were too many.
    var refusedProcesses = 0

    /// What has come since `earlier`.
    func since(_ earlier: GroupUsage) -> GroupUsage {
        var difference = self
        difference.cpuTime -= earlier.cpuTime
        difference.outOfMemoryKills -= earlier.outOfMemoryKills
        difference.refusedProcesses -= earlier.refusedProcesses
        return difference
    }
}

/// One group: a folder in each hierarchy that it is part of.
struct ControlGroup: Sendable {
    enum Controller: String, Sendable { case unified, memory, pids, cpuacct }

    let folders: [Controller: String]

    /// The group of this name in it, whether it is there or not.
    func child(named name: String) -> ControlGroup { ControlGroup(folders: folders.mapValues { "\($0)/\(name)" }) }

    /// Makes a group in it, unless there is one of this name.
    func child(_ name: String, _ limits: GroupLimits) throws -> ControlGroup {
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

    /// - Parameter earlier: What it limits so far.
    func set(_ limits: GroupLimits, after earlier: GroupLimits) throws {
        if limits.memory != earlier.memory {
            let memory = limits.memory.map(String.init)
            if let folder = folders[.unified] {
                try write(memory ?? "max", to: "\(folder)/memory.max")
                try? write(memory == nil ? "max" : "0", to: "\(folder)/memory.swap.max")
                // One process that is killed leaves a build that hangs or lies; all of them go.
                try? write(memory == nil ? "0" : "1", to: "\(folder)/memory.oom.group")
            } else if let folder = folders[.memory] {
                // The second is never below the first.
                if earlier.memory != nil { try? write("-1", to: "\(folder)/memory.memsw.limit_in_bytes") }
                try write(memory ?? "-1", to: "\(folder)/memory.limit_in_bytes")
                if let memory { try? write(memory, to: "\(folder)/memory.memsw.limit_in_bytes") }
            }
        }
        if limits.processes != earlier.processes, let folder = folders[.unified] ?? folders[.pids] {
            try write(limits.processes.map(String.init) ?? "max", to: "\(folder)/pids.max")
        }
    }

    /// Lets children have groups with limits (version 2 only).
    func delegate() {
        guard let folder = folders[.unified] else { return }
        for controller in ["+memory", "+pids", "+cpu"] {
            try? write(controller, to: "\(folder)/cgroup.subtree_control")
        }
    }

    /// Open files that a process of one thread enters the group by, by writing `0`; the caller closes them.
    ///
    /// Whole processes are moved under a lock that waits for all processors (15 to 60 ms); a thread that moves itself is
    /// not (Linux 5.5, `cgroup_procs_write_start`), and a process of one thread has no other. Version 2 has no such
    /// entrance to a group with limits.
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

    /// How many ``entrances()`` there are.
    var count: Int { folders.count }

    var isThere: Bool { folders.values.allSatisfy { access($0, F_OK) == 0 } }
    var isThereInPart: Bool { folders.values.contains { access($0, F_OK) == 0 } }

    /// Has a line `oom_kill` with how many of its processes the kernel has killed for want of memory.
    var killsFile: String? {
        folders[.memory].map { "\($0)/memory.oom_control" } ?? folders[.unified].map { "\($0)/memory.events" }
    }

    /// Has a line `max` with how many processes could not be started.
    var refusalsFile: String? { (folders[.unified] ?? folders[.pids]).map { "\($0)/pids.events" } }

    /// How many of its processes the kernel has killed for want of memory.
    var outOfMemoryKills: Int { killsFile.flatMap { value("oom_kill", in: $0) } ?? 0 }

    var usage: GroupUsage {
        var usage = GroupUsage()
        usage.outOfMemoryKills = outOfMemoryKills
        if let folder = folders[.unified] {
            usage.cpuTime = Double(value("usage_usec", in: "\(folder)/cpu.stat") ?? 0) / 1e6
        }
        if let folder = folders[.cpuacct] { usage.cpuTime = Double(number("\(folder)/cpuacct.usage") ?? 0) / 1e9 }
        usage.refusedProcesses = refusalsFile.flatMap { value("max", in: $0) } ?? 0
        return usage
    }

    /// Removes the group; the kernel may need a moment to forget its last process.
    func remove() {
        for folder in folders.values {
            for _ in 0..<50 {
                if rmdir(folder) == 0 || errno != EBUSY { break }
                usleep(1_000)
            }
        }
    }

    /// Makes it as good as new, after all that was in it has ended.
    ///
    /// - Returns: Whether it is. With version 2 it never is: what that counts can't be set back.
    func renew() -> Bool {
        guard folders[.unified] == nil, let memory = folders[.memory], let processes = folders[.pids],
            number("\(processes)/pids.current") == 0,
            // What the run's files still take, or have taken of the swap; it would count as the next run's.
            let bytes = number("\(memory)/memory.usage_in_bytes"), bytes <= ControlGroup.mostLeft,
            number("\(memory)/memory.memsw.usage_in_bytes") ?? 0 <= ControlGroup.mostLeft
        else { return false }
        for folder in folders.values {
            var facts = stat()
            // A group of a step that could not be removed.
            guard stat(folder, &facts) == 0, facts.st_nlink == 2 else { return false }
        }
        let usage = usage
        guard usage.outOfMemoryKills == 0, usage.refusedProcesses == 0 else { return false }
        guard let times = folders[.cpuacct] else { return true }
        return (try? write("0", to: "\(times)/cpuacct.usage")) != nil
    }

    /// Bytes of memory.
    private static let mostLeft = 1 << 20

    private func write(_ value: String, to path: String) throws {
        let file = open(path, O_WRONLY | O_CLOEXEC)
        guard file >= 0 else { throw ControlGroupProblem("\(path): \(String(cString: strerror(errno)))") }
        defer { closeFile(file) }
        let text = Array(value.utf8)
        guard text.withUnsafeBytes({ Engine.write(file, $0) }) == text.count else {
            throw ControlGroupProblem("\(path) does not take \(value): \(String(cString: strerror(errno)))")
        }
    }

    /// These files are asked for with every step: Foundation takes ten times as long to read one.
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

private func write(_ file: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
    write(file, bytes.baseAddress, bytes.count)
}

private func readSome(_ file: Int32, _ bytes: UnsafeMutableBufferPointer<UInt8>) -> Int {
    read(file, bytes.baseAddress, bytes.count)
}
