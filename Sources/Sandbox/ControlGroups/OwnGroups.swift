#if os(Linux)
    import Foundation
    import Glibc

    /// The group of this process in each hierarchy of control groups: /proc/self/cgroup.
    struct OwnGroups {
        /// Paths in the hierarchies by controller; the key is empty for version 2.
        private var paths: [String: String] = [:]
        private let root = "/sys/fs/cgroup"
        /// The start of the name of a daemon's group. The numbers of its PID namespace and of its process follow.
        private let prefix = "pipectl-"
        /// The same number belongs to another process in another namespace (pid_namespaces(7)).
        private let space: UInt64 = {
            var facts = stat()
            return stat("/proc/self/ns/pid", &facts) == 0 ? UInt64(facts.st_ino) : 0
        }()
        private var ownName: String { "\(prefix)\(space)-\(getpid())" }

        static func read() throws -> OwnGroups {
            guard let text = try? String(contentsOfFile: "/proc/self/cgroup", encoding: .utf8) else {
                throw GroupObstacle.noHierarchy
            }
            return OwnGroups(text)
        }

        init(_ text: String) {
            for line in text.split(separator: "\n") {
                let parts = line.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
                guard parts.count == 3 else { continue }
                for controller in parts[1].split(separator: ",", omittingEmptySubsequences: false) {
                    paths[String(controller)] = String(parts[2])
                }
            }
        }

        /// Finds out whether this process's own group of version 2 can be used.
        func unified() -> UnifiedGroup {
            UnifiedGroup(paths[""].flatMap { UnifiedGroup.Facts(path: $0, below: root) }, isOurs: isOurs)
        }

        /// Creates the daemon's group in `folder`, after it has moved `processes`, which are ours, into a sibling
        /// group.
        func version2(in folder: String, moving processes: [pid_t]) throws -> ControlGroup {
            sweep([folder])
            let group = ControlGroup(folders: [.unified: folder])
            if !processes.isEmpty {
                let leaf = try group.child(UnifiedGroup.leafName, GroupLimits())
                for process in processes { try leaf.take(process) }
            }
            try group.allowGroups()
            let box = try group.child(ownName, GroupLimits(processes: 1 << 20))
            do { try box.allowGroups() } catch {
                box.remove()
                throw error
            }
            return box
        }

        /// Whether a process is this one or a descendant of it.
        private func isOurs(_ process: pid_t) -> Bool {
            var process = process
            for _ in 0..<64 where process > 1 {
                if process == getpid() { return true }
                let status = (try? String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)) ?? ""
                let line = status.split(separator: "\n").first { $0.hasPrefix("PPid:") }
                process = line.flatMap { pid_t($0.dropFirst(5).trimmingCharacters(in: .whitespaces)) } ?? 0
            }
            return false
        }

        func version1() -> ControlGroup? {
            var folders: [ControlGroup.Controller: String] = [:]
            for controller in [ControlGroup.Controller.memory, .pids, .cpuacct] {
                guard let path = paths[controller.rawValue] else { continue }
                // In a container the path belongs to the host's hierarchy, but the mount starts at our own group.
                let place =
                    existing("\(root)/\(controller.rawValue)\(path)") ?? existing("\(root)/\(controller.rawValue)")
                if let place, access(place, W_OK) == 0 { folders[controller] = place }
            }
            guard folders[.memory] != nil, folders[.pids] != nil else { return nil }
            sweep(Array(folders.values))
            return try? ControlGroup(folders: folders).child(ownName, GroupLimits())
        }

        private func existing(_ path: String) -> String? {
            let path = path.hasSuffix("/") ? String(path.dropLast()) : path
            return access("\(path)/cgroup.procs", F_OK) == 0 ? path : nil
        }

        /// Removes the groups of daemons that have ended, as far as this process can tell.
        private func sweep(_ folders: [String]) {
            for folder in folders {
                for name in (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? [] {
                    // The names of older versions contain only the process.
                    guard let own = ["\(prefix)\(space)-", prefix].first(where: name.hasPrefix),
                        let pid = pid_t(name.dropFirst(own.count)), pid != getpid(), kill(pid, 0) != 0, errno == ESRCH
                    else { continue }
                    removeTree("\(folder)/\(name)")
                }
            }
        }

        private func removeTree(_ folder: String) {
            // The processes of a killed daemon end with their sandboxes; this file of version 2 (Linux 5.14) makes
            // sure.
            let kill = open("\(folder)/cgroup.kill", O_WRONLY | O_CLOEXEC)
            if kill >= 0 {
                _ = Glibc.write(kill, "1", 1)
                closeFile(kill)
            }
            for name in (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? [] {
                var info = stat()
                guard lstat("\(folder)/\(name)", &info) == 0, info.st_mode & S_IFMT == S_IFDIR else { continue }
                removeTree("\(folder)/\(name)")
            }
            ControlGroup(folders: [.unified: folder]).remove()
        }
    }
#endif
