#if os(Linux)
    import CLinux
    import Glibc
    import SystemPackage

    /// The mounts of the thread that made it; only for that thread.
    final class LeanMounts {
        /// The namespace of the process, and its list of mounts: poll(2) says when that has changed.
        private let home: Int32
        private let list: Int32
        /// The root of the process, which may be a part of its namespace only.
        private let root: Int32
        /// A place in the folder that ``LeanMounts/temporary`` leads to.
        private let newRoot: String
        /// Where the new root is made, before it is the root.
        private let folder: String
        private var isMade = false
        /// Whether this thread has left the namespace of the process.
        private var isAway = false
        /// What is not in this thread's namespace.
        private var left: [String] = []
        /// What of it some sandbox would have shown: it is taken along from then on.
        private var wanted: Set<String> = []

        /// What makes a sandbox needs these itself, and the programs of the system are linked with some.
        private static let always =
            ["/proc/self", "/usr", "/lib", "/lib64", "/etc/ld.so.cache"]
            + ["null", "zero", "full", "random", "urandom", "tty"].map { "/dev/\($0)" }
        /// Where the sandbox's root is made: it must lead to the same folder here, whatever is mounted in that.
        private static let temporary = "/tmp"

        init(at folder: String) throws(Errno) {
            self.folder = folder
            home = open("/proc/self/ns/mnt", O_RDONLY | O_CLOEXEC)
            list = open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC)
            root = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
            newRoot = (ShownPath(LeanMounts.temporary)?.real ?? LeanMounts.temporary) + "/newroot"
            guard home >= 0, list >= 0, root >= 0, mkdir(folder, 0o700) == 0 || errno == EEXIST else {
                throw Errno(rawValue: errno)
            }
        }

        deinit { for file in [home, list, root] where file >= 0 { closeFile(file) } }

        /// Whether all of `sources` is here as it is outside; what has changed there is made anew first.
        func has(_ sources: [ShownPath]) throws(Errno) -> Bool {
            var change = pollfd(fd: list, events: Int16(POLLPRI), revents: 0)
            if poll(&change, 1, 0) != 0 { isMade = false }
            var missing = self.missing(for: sources)
            if !isMade || !wanted.isSuperset(of: missing) {
                wanted.formUnion(missing)
                try make(for: sources)
                missing = self.missing(for: sources)
            }
            // A link may lead over a third place, which is not known here.
            return missing.isEmpty && sources.allSatisfy { $0.isPlain || ShownPath($0.path)?.real == $0.real }
        }

        private func missing(for sources: [ShownPath]) -> [String] {
            left.filter { place in sources.contains { MountTable.areRelated(place, $0.real) } }
        }

        /// Makes the namespace anew, from what this process's own has now.
        private func make(for sources: [ShownPath]) throws(Errno) {
            isMade = false
            // Not from the last one, which may lack something.
            if isAway {
                try check(setns(home, clinux_new_mounts))
                // It leads to the root of the namespace.
                try check(fchdir(root))
                try check(chroot("."))
            }
            // With folders of its own (the root, where it is) a thread may change what is mounted there.
            try check(unshare(clinux_new_mounts | clinux_own_folders))
            isAway = true
            // Without this what is unmounted here would be on the whole machine.
            try check(mount("none", "/", nil, clinux_slave_all, nil))
            let table = try MountTable.ofThread()
            var taken: Set<String> = ["/"]
            try check(mount("/", folder, nil, clinux_bind, nil))
            let shown = sources.map(\.real) + LeanMounts.always + [newRoot] + wanted
            for place in table.needed(showing: shown) {
                // What is hidden below another mount has no place any more; nobody sees it outside either.
                if mount(place, folder + place, nil, clinux_bind, nil) == 0 { taken.insert(place) }
            }
            try check(chdir(folder))
            try check(clinux_pivot_root())
            // All the others at once: each by itself would have to wait for every processor.
            try check(umount2(".", clinux_detach))
            try check(chdir("/"))
            left = table.places.filter { !taken.contains($0) }
            isMade = true
        }

        private func check(_ code: Int32) throws(Errno) {
            guard code == 0 else { throw Errno(rawValue: errno) }
        }
    }

    /// A path that a sandbox shows, and where it leads.
    struct ShownPath: Sendable {
        var path: String
        var real: String

        /// - Returns: Nil for one that is not there.
        init?(_ path: String) {
            guard let resolved = realpath(path, nil) else { return nil }
            defer { free(resolved) }
            self.path = path
            real = String(cString: resolved)
        }

        var isPlain: Bool { path == real }
    }
#endif
