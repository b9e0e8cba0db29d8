#if os(Linux)
    import Foundation
    import Glibc

    /// Whether this process can use its own group of version 2 (cgroups(7)).
    enum UnifiedGroup: Equatable {
        /// Groups can be created in `folder` once these processes, which are all of ours and the only ones in it, have
        /// left it.
        case usable(folder: String, moving: [pid_t])
        case unusable(GroupObstacle)

        /// The group for the daemon's own processes, which can't be in a group that contains groups with limits.
        static let leafName = "pipectl-daemon"

        /// The state of a group, as the kernel shows it.
        struct Facts {
            var folder: String
            /// The controllers that it was given.
            var controllers: Set<String>
            /// `domain`, or the type of a group that can't contain groups with memory limits.
            var kind: String
            /// The processes in the group itself, without its children.
            var processes: [pid_t]
            /// Whether this user may create groups in it and move processes between them.
            var isWritable: Bool
        }

        /// - Parameters:
        ///   - facts: The state of the group; nil without such a hierarchy.
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
        /// Reads the state of the group that /proc/self/cgroup names. If that is the leaf to which an earlier call
        /// moved this process, the parent is read instead. Nil if the hierarchy is not mounted at `root`.
        init?(path: String, below root: String) {
            var folder = root + (path == "/" ? "" : path)
            let leaf = "/\(UnifiedGroup.leafName)"
            if folder.hasSuffix(leaf) { folder.removeLast(leaf.count) }
            func text(_ name: String) -> String? { try? String(contentsOfFile: "\(folder)/\(name)", encoding: .utf8) }
            guard let controllers = text("cgroup.controllers") else { return nil }
            self.folder = folder
            self.controllers = Set(controllers.split(whereSeparator: \.isWhitespace).map(String.init))
            // The root group has no such file and is a domain.
            kind = text("cgroup.type")?.trimmingCharacters(in: .whitespacesAndNewlines) ?? "domain"
            processes = (text("cgroup.procs") ?? "").split(separator: "\n").compactMap { pid_t($0) }
            let own: [String] = [folder, "\(folder)/cgroup.procs", "\(folder)/cgroup.subtree_control"]
            isWritable = own.allSatisfy { access($0, W_OK) == 0 }
        }
    }
#endif
