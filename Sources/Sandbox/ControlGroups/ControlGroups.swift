public import Foundation
import Synchronization

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// The daemon's control groups (cgroups(7)), which count and limit all processes of a step together.
///
/// Version 2 is used if this process's own group is delegated to it (a systemd service with `Delegate=yes`), if it may
/// divide the group as root, or if systemd gives it a group (``SystemdScope``). Otherwise version 1 is used if its
/// controllers can be written to, as root can. With neither, only the limits of single processes apply.
public struct ControlGroups: Sendable {
    /// The interface that is used, for people: `cgroup v2`.
    public let kind: String
    /// Whether systemd ends this process with the last session of its user, because its group is a scope of the
    /// session.
    public private(set) var endsWithSession = false
    /// The daemon's group; the groups of runs are its children.
    private let root: ControlGroup
    private let runs = RunGroups()

    /// Creates the daemon's group, and removes the groups of daemons that have ended.
    ///
    /// - Parameter stopSignal: The signal that systemd sends to this process and its steps when it stops a scope that
    ///   it made for them; nil:
    /// SIGTERM.
    /// - Throws: ``GroupObstacle`` if control groups can't be used here.
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

    /// Removes the daemon's group. All runs must have ended.
    public func close() { root.remove() }

    /// Returns the group of a run, and creates it if needed.
    ///
    /// - Parameter limits: The limits of the run; nil while no process is in it.
    package func run(named name: String, _ limits: GroupLimits?) throws -> ControlGroup {
        try runs.take(name, limits, in: root)
    }

    /// Removes the group of a run whose last process has ended.
    package func removeGroup(ofRun name: String) { runs.remove(name) }
}
