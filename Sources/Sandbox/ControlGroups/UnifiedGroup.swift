#if os(Linux)
    import Foundation
    import Glibc

    /// What this process may do with its own group of version 2 (cgroups(7)).
    enum UnifiedGroup: Equatable {
        /// Groups can be made in `folder` when these processes, which are all that it has and are ours, have left it.
        case usable(folder: String, moving: [pid_t])
        case unusable(GroupObstacle)

        /// What the group of the box's own processes is called: those can't be in a group that has groups with limits.
        static let leafName = "pipectl-daemon"

        /// What the kernel shows of a group.
        struct Facts {
            var folder: String
            /// Controllers that it was given.
            var controllers: Set<String>
            /// `domain`, or what a group is called that can't have groups with limits of memory.
            var kind: String
            /// Processes in it, and not in a group of it.
            var processes: [pid_t]
            /// Whether this user may make groups in it and move processes between those.
            var isWritable: Bool
        }

        /// - Parameters:
        ///   - facts: Nil where there is no such hierarchy.
        ///   - isOurs: Whether a process is this one or was started by it.
        init(_ facts: Facts?, isOurs: (pid_t) -> Bool) {
            guard let facts else {
                self = .unusable(.noHierarchy)
                return
            }
            let missing = ControlGroup.needed.filter { !facts.controllers.contains($0) }
            let others = facts.processes.filter { !isOurs($0) }
            if !facts.isWritable {
                self = .unusable(.notDelegated(facts.folder))
            } else if !missing.isEmpty {
                self = .unusable(.lacks(missing, facts.folder))
            } else if facts.kind != "domain" {
                self = .unusable(.kind(facts.kind, facts.folder))
            } else if !others.isEmpty {
                self = .unusable(.shared(others.count, facts.folder))
            } else {
                self = .usable(folder: facts.folder, moving: facts.processes)
            }
        }
    }

    extension UnifiedGroup.Facts {
        /// Looks at the group that /proc/self/cgroup names; where that is the leaf that an earlier look moved this process
        /// to, at the group around it. Nil where the hierarchy is not mounted at `root`.
        init?(path: String, below root: String) {
            var folder = root + (path == "/" ? "" : path)
            let leaf = "/\(UnifiedGroup.leafName)"
            if folder.hasSuffix(leaf) { folder.removeLast(leaf.count) }
            func text(_ name: String) -> String? { try? String(contentsOfFile: "\(folder)/\(name)", encoding: .utf8) }
            guard let controllers = text("cgroup.controllers") else { return nil }
            self.folder = folder
            self.controllers = Set(controllers.split(whereSeparator: \.isWhitespace).map(String.init))
            // The root of all groups has no such file, and is one.
            kind = text("cgroup.type")?.trimmingCharacters(in: .whitespacesAndNewlines) ?? "domain"
            processes = (text("cgroup.procs") ?? "").split(separator: "\n").compactMap { pid_t($0) }
            let own: [String] = [folder, "\(folder)/cgroup.procs", "\(folder)/cgroup.subtree_control"]
            isWritable = own.allSatisfy { access($0, W_OK) == 0 }
        }
    }
#endif
