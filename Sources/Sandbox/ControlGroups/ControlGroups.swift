public import Foundation
import Synchronization

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// The box's control groups (cgroups(7)), which count and limit all processes of a step together.
///
/// Version 2 where this process's own group is delegated to it (a systemd service with `Delegate=yes`), where it may
/// divide it as root, or where systemd gives it a group of its own (``SystemdScope``); else version 1 where its controllers
/// can be written to, as root can. Where there is neither, each process is limited by itself.
public struct ControlGroups: Sendable {
    /// Which interface is used, for people: `cgroup v2`.
    public let kind: String
    /// Whether systemd ends this process with the last session of its user, because its group is a scope of that.
    public private(set) var endsWithSession = false
    /// The box's group; runs are groups in it.
    private let root: ControlGroup
    private let runs = RunGroups()

    /// Makes the box's group and removes those of boxes that are gone.
    ///
    /// - Parameter stopSignal: What systemd sends to this process and its steps when it stops a scope made for them; nil:
    ///   SIGTERM.
    /// - Throws: ``GroupObstacle``: why each process is limited by itself here.
    public static func find(
        stopSignal: Int32? = nil, environment: [String: String] = ProcessInfo.processInfo.environment
    ) async throws -> ControlGroups {
        #if os(Linux)
            let own = try OwnGroups.read()
            switch own.unified() {
            case .usable(let folder, let processes): return try unified(own, folder, processes)
            case .unusable(.noHierarchy): break
            case .unusable(let obstacle):
                guard
                    var scope = SystemdScope(
                        group: SystemdScope.ownGroup ?? "", user: geteuid(), process: getpid(), environment: environment
                    )
                else { throw obstacle }
                scope.stopSignal = stopSignal
                try await scope.enter(environment: environment)
                let own = try OwnGroups.read()
                switch own.unified() {
                case .usable(let folder, let processes):
                    var groups = try self.unified(own, folder, processes)
                    groups.endsWithSession = scope.isOfUser && !SystemdScope.userLingers
                    return groups
                case .unusable(let obstacle): throw obstacle
                }
            }
            if let root = own.version1() { return ControlGroups(kind: "cgroup v1", root: root) }
        #endif
        throw GroupObstacle.noHierarchy
    }

    #if os(Linux)
        private static func unified(_ own: OwnGroups, _ folder: String, _ processes: [pid_t]) throws -> ControlGroups {
            do {
                return ControlGroups(kind: "cgroup v2", root: try own.version2(in: folder, moving: processes))
            } catch {
                throw GroupObstacle.refused("\(error)")
            }
        }
    #endif

    /// Removes the box's group, when all runs have ended.
    public func close() { root.remove() }

    /// The group of a run, which is made if there is none yet.
    ///
    /// - Parameter limits: The run's; nil while nothing goes on in it.
    package func run(named name: String, _ limits: GroupLimits?) throws -> ControlGroup {
        try runs.take(name, limits, in: root)
    }

    /// Removes the group of a run whose last process has ended.
    package func removeGroup(ofRun name: String) { runs.remove(name) }
}
