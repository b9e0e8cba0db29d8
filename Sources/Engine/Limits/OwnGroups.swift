#if os(Linux)
    import Foundation
    import Glibc

    /// Where this process is in each hierarchy of control groups: /proc/self/cgroup.
    struct OwnGroups {
        /// Controller (empty for version 2) to path in its hierarchy.
        private var paths: [String: String] = [:]
        private let root = "/sys/fs/cgroup"
        /// What a box's group is called, before the numbers of its processes' namespace and of its process.
        private let prefix = "pipectl-"
        /// In another namespace, a number is of another process (pid_namespaces(7)).
        private let space: UInt64 = {
            var facts = stat()
            return stat("/proc/self/ns/pid", &facts) == 0 ? UInt64(facts.st_ino) : 0
        }()
        private var ownName: String { "\(prefix)\(space)-\(getpid())" }

        init(_ text: String) {
            for line in text.split(separator: "\n") {
                let parts = line.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
                guard parts.count == 3 else { continue }
                for controller in parts[1].split(separator: ",", omittingEmptySubsequences: false) {
                    paths[String(controller)] = String(parts[2])
                }
            }
        }

        func version2() -> ControlGroup? {
            guard let path = paths[""], let own = existing("\(root)\(path)"),
                let controllers = try? String(contentsOfFile: "\(own)/cgroup.controllers", encoding: .utf8),
                ["memory", "pids"].allSatisfy(
                    controllers.split(whereSeparator: \.isWhitespace).map(String.init).contains),
                let processes = try? String(contentsOfFile: "\(own)/cgroup.procs", encoding: .utf8)
            else { return nil }
            // A group has processes or groups with limits, not both; only one that holds nobody else is ours to empty.
            guard processes.split(separator: "\n").map(String.init) == [String(getpid())] else { return nil }
            sweep([own])
            let group = ControlGroup(folders: [.unified: own])
            guard let leaf = try? group.child("\(prefix)daemon", GroupLimits()),
                let entrances = try? leaf.entrances()
            else { return nil }
            defer { entrances.forEach(closeFile) }
            for file in entrances { _ = Glibc.write(file, "0", 1) }
            group.delegate()
            guard let box = try? group.child(ownName, GroupLimits(processes: 1 << 20)) else {
                return nil
            }
            box.delegate()
            return box
        }

        func version1() -> ControlGroup? {
            var folders: [ControlGroup.Controller: String] = [:]
            for controller in [ControlGroup.Controller.memory, .pids, .cpuacct] {
                guard let path = paths[controller.rawValue] else { continue }
                // In a container the path is of the host's hierarchy, and what is mounted begins at our own group.
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

        /// Removes the groups of boxes that have ended, as far as that can be known from here.
        private func sweep(_ folders: [String]) {
            for folder in folders {
                for name in (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? [] {
                    // Older versions named the process alone.
                    guard let own = ["\(prefix)\(space)-", prefix].first(where: name.hasPrefix),
                        let pid = pid_t(name.dropFirst(own.count)), pid != getpid(), kill(pid, 0) != 0, errno == ESRCH
                    else { continue }
                    removeTree("\(folder)/\(name)")
                }
            }
        }

        private func removeTree(_ folder: String) {
            for name in (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? [] {
                var info = stat()
                guard lstat("\(folder)/\(name)", &info) == 0, info.st_mode & S_IFMT == S_IFDIR else { continue }
                removeTree("\(folder)/\(name)")
            }
            rmdir(folder)
        }
    }
#endif
