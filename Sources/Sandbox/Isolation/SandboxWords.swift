#if os(Linux)
    import Foundation
    import Glibc
    import Pipeline

    /// The arguments for bwrap(1) that describe a sandbox. A step sees nothing that is not listed here.
    struct SandboxWords {
        let sandbox: Sandbox
        let policy: SandboxPolicy
        let mounts: [SandboxMount]
        let user: StepUser?

        private var words: [String] = []
        /// Folders that exist in the sandbox at this point.
        private var made: Set<String> = ["/"]

        init(sandbox: Sandbox, policy: SandboxPolicy, mounts: [SandboxMount], user: StepUser?) {
            self.sandbox = sandbox
            self.policy = policy
            self.mounts = mounts
            self.user = user
        }

        func command(lifetime: Sandbox.Lifetime, directory: String, _ command: [String]) -> [String] {
            var build = self
            build.namespaces(lifetime)
            build.system()
            if sharesKernel { build.kernel() }
            build.ownPlaces()
            // These come after the sandbox's own /tmp is mounted, or the folders below the machine's /tmp would be
            // hidden.
            for path in sandbox.readable where build.exists(path) { build.mount(SandboxMount(path)) }
            for mount in mounts { build.mount(mount) }
            build.identity()
            if !sharesKernel { build.kernel() }
            // The root is a tmpfs to which the sandbox's user could write.
            build.words += ["--remount-ro", "/", "--chdir", "/", "--as-pid-1"]
            build.words += ["--", Sandbox.Place.stepInit]
            // Only the user that owns it may enter it.
            if case .withSocket(let groups) = lifetime, groups > 0 { build.words += ["--enter", String(groups)] }
            build.words += build.confinement(lifetime)
            // Steps have limits of their own; a compiler or a workflow program has only a deadline.
            if lifetime.isOfParent { build.words += ["--processes", String(Sandbox.mostProcesses)] }
            build.words += ["--chdir", directory]
            return build.words + (command.isEmpty ? [] : ["--"] + command)
        }

        private mutating func namespaces(_ lifetime: Sandbox.Lifetime) {
            words = [sandbox.program]
            words += ["--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try", "--cap-drop", "ALL"]
            words += ["--hostname", "pipectl"]
            // A process may use the terminal of its own session only; it could type into any other (TIOCSTI).
            if case .withTerminal = lifetime {} else { words.append("--new-session") }
            if user == nil {
                words += ["--unshare-user"]
            } else {
                // As root no user namespace is needed: stepinit changes to a user that has no account on the machine.
                // So a step stays unprivileged even if the namespaces leak. stepinit needs these capabilities only for
                // this change.
                words += ["--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID", "--cap-add", "CAP_SETPCAP"]
                if uncoversProc { words += ["--cap-add", "CAP_SYS_ADMIN"] }
            }
            if policy.network == .denied { words.append("--unshare-net") }
            if lifetime.isOfParent { words.append("--die-with-parent") }
        }

        /// Shows the parts of the machine. They are looked up every few seconds and not for each sandbox.
        private mutating func system() {
            // Nothing can be created in the read-only copy, not even a mount point.
            let isCopied = !sharesSettings && policy.network == .denied
            let view = isCopied ? sandbox.settings?.view() : nil
            let part = sandbox.systemParts.part(
                .init(network: policy.network, sharesSettings: sharesSettings, isRun: shown != nil, copy: view?.folder)
            ) {
                var build = self
                (build.words, build.made) = ([], ["/"])
                build.lookUpSystem(view)
                return SystemPart(words: build.words, made: build.made)
            }
            words += part.words
            made = part.made
        }

        private mutating func lookUpSystem(_ view: SettingsCopy.View?) {
            for root in SystemFolders.roots {
                if let target = link(at: root) {
                    words += ["--symlink", target, root]
                    made.insert(root)
                } else {
                    mount(SandboxMount(root, isOptional: true))
                }
            }
            settings(view)
            for path in SystemFolders.devices where exists(path) { mount(SandboxMount(path, isOptional: true)) }
        }

        /// Mounts a /proc and a /dev of the sandbox's own. They come last if possible: each mount makes the later ones
        /// slower, and most of these are cheap.
        private mutating func kernel() {
            words += ["--proc", "/proc", "--dev", "/dev"]
            // Both are in memory; without control groups only these sizes limit them.
            words += ["--perms", "1777", "--size", String(Sandbox.temporaryBytes), "--tmpfs", "/dev/shm"]
            words += ["--remount-ro", "/dev"]
            made.formUnion(["/proc", "/dev", "/dev/shm"])
        }

        /// Whether `stepinit` removes what bubblewrap mounts over parts of /proc as root: a sandbox in this one can have
        /// a /proc only if this one's is whole. Without root, bubblewrap covers nothing.
        private var uncoversProc: Bool {
            user != nil && policy.permissions.contains(.nestedSandboxes) && !sharesKernel
        }

        /// Whether the daemon's settings show devices of the machine, or parts of its /proc or /sys.
        private var sharesKernel: Bool {
            (sandbox.readable + mounts.map(\.target)).contains { path in
                ["/proc", "/dev"].contains { path == $0 || path.hasPrefix($0 + "/") }
            }
        }

        private mutating func settings(_ view: SettingsCopy.View?) {
            var single = SystemFolders.settings
            if policy.network == .allowed { single += SystemFolders.network }
            if let view {
                mount(SandboxMount(view.folder, at: "/etc"))
                for path in view.mounts { folders(within: path) }
                single = view.mounts
            }
            // The file may be removed between this check and the start, so its mount is optional.
            for path in single where exists(path) { mount(SandboxMount(path, isOptional: true)) }
            if view == nil, !sharesSettings, shown != nil {
                for link in SettingsCopy.links { words += ["--symlink", link.target, link.path] }
            }
        }

        /// Whether the daemon's settings show files below /etc that are not in the standard list.
        private var sharesSettings: Bool {
            (sandbox.readable + mounts.map(\.target)).contains { $0 == "/etc" || $0.hasPrefix("/etc/") }
        }

        /// The run's folder with a file for each of ``SettingsCopy/links``.
        private var shown: String? { mounts.first { $0.target == Sandbox.Place.shown }?.source }

        /// Adds files that name the steps' user, which the machine does not know.
        private mutating func identity() {
            guard sharesSettings, let shown else { return }
            for (path, target) in SettingsCopy.links {
                mount(SandboxMount(shown + target.dropFirst(Sandbox.Place.shown.count), at: path))
            }
        }

        private mutating func ownPlaces() {
            mount(SandboxMount(sandbox.stepInit, at: Sandbox.Place.stepInit))
            if policy.owner != nil {
                folders(to: Sandbox.Place.secrets)
                words += ["--perms", "0777", "--size", String(1 << 20), "--tmpfs", Sandbox.Place.secrets]
            }
            // In memory and of this sandbox alone, so no step can have created anything at the mount points below it.
            folders(to: "/tmp")
            words += ["--perms", "1777", "--size", String(Sandbox.temporaryBytes), "--tmpfs", "/tmp"]
            made.insert("/tmp")
            for place in [Sandbox.Place.home, Sandbox.Place.temporary]
            where !mounts.contains(where: { $0.target == place }) {
                folders(to: place)
                words += ["--perms", "1777", "--size", String(Sandbox.temporaryBytes), "--tmpfs", place]
                made.insert(place)
            }
        }

        private mutating func mount(_ mount: SandboxMount) {
            folders(to: mount.target)
            let kind = mount.access == .write ? "--bind" : "--ro-bind"
            words += [mount.isOptional ? kind + "-try" : kind, mount.source, mount.target]
            made.insert(mount.target)
        }

        /// Creates the folders on a path; bwrap would create missing ones for root alone.
        private mutating func folders(to path: String) {
            var folder = ""
            for part in path.split(separator: "/").dropLast() {
                folder += "/\(part)"
                if made.contains(folder) { continue }
                // A folder inside a bound folder exists already.
                if SystemFolders.roots.contains(where: { folder.hasPrefix($0 + "/") }) { continue }
                made.insert(folder)
                words += ["--perms", "0755", "--dir", folder]
            }
        }

        /// Notes that the folders on a path exist.
        private mutating func folders(within path: String) {
            var folder = ""
            for part in path.split(separator: "/").dropLast() {
                folder += "/\(part)"
                made.insert(folder)
            }
        }

        private func confinement(_ lifetime: Sandbox.Lifetime) -> [String] {
            var options: [String] = uncoversProc ? ["--whole-proc"] : []
            if let user { options += ["--user", "\(user.user):\(user.group)"] }
            let allowed = SandboxPermission.allCases.filter(policy.permissions.contains).map {
                switch $0 {
                case .nestedSandboxes: "-nested"
                case .tracing: "-tracing"
                }
            }
            return options + ["--filter" + allowed.joined() + (lifetime.hasGroups ? "" : "-uncounted")]
        }

        private func link(at path: String) -> String? {
            try? FileManager.default.destinationOfSymbolicLink(atPath: path)
        }

        private func exists(_ path: String) -> Bool { access(path, F_OK) == 0 }
    }

    extension Sandbox.Lifetime {
        /// Whether control groups count the processes in the sandbox.
        fileprivate var hasGroups: Bool { if case .withSocket(let groups) = self { groups > 0 } else { false } }

        fileprivate var isOfParent: Bool {
            switch self {
            case .withSocket: false
            case .withParent, .withTerminal: true
            }
        }
    }
#endif
