import SystemPackage

#if canImport(Glibc)
    import CLinux
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// The processes of a run: those that the daemon started for it, and all below them.
struct RunProcesses: Sendable {
    let ids: [pid_t]

    /// - Parameter roots: The processes that the daemon started; they are included.
    init(below roots: [pid_t]) {
        #if os(Linux)
            guard !roots.isEmpty else {
                ids = []
                return
            }
            var children: [pid_t: [pid_t]] = [:]
            for name in FolderNames.of("/proc") {
                guard let id = pid_t(name), let parent = RunProcesses.parent(of: id) else { continue }
                children[parent, default: []].append(id)
            }
            var (found, next) = (roots, 0)
            while next < found.count {
                found += children.removeValue(forKey: found[next]) ?? []
                next += 1
            }
            ids = found
        #else
            ids = roots
        #endif
    }

    #if os(Linux)
        /// The parent in the format of proc_pid_stat(5). It is read after the process's name, which may contain
        /// anything.
        private static func parent(of id: pid_t) -> pid_t? {
            guard let text = try? KernelFile.content(of: "/proc/\(id)/stat"), let end = text.lastIndex(of: 0x29) else {
                return nil
            }
            return text[(end + 1)...].split(separator: 0x20).dropFirst().first.flatMap {
                pid_t(String(decoding: $0, as: UTF8.self))
            }
        }
    #endif
}

/// Resources of a run that don't appear in its folders.
package struct HeldResources: Sendable, Equatable {
    /// Bytes on disk of files that are open but have no name any more.
    var unlinkedBytes = 0
    /// Bytes of such files in memory, for example of memfd_create(2).
    var unlinkedMemory = 0
    /// The number of terminals in its sandboxes.
    var terminals = 0
    /// The number of open files that were checked.
    var files = 0

    /// The most open files that are checked; no build has as many.
    static let mostFiles = 200_000
    /// The most terminals of one run. The whole machine has a few thousand.
    package static let mostTerminals = 64

    init(of processes: RunProcesses) {
        #if os(Linux)
            var seen: Set<FileName> = []
            var folders: Set<FileName> = []
            var own = stat()
            if stat("/dev/pts", &own) == 0 { folders.insert(FileName(own)) }
            for id in processes.ids {
                let terminals = "/proc/\(id)/root/dev/pts"
                var info = stat()
                if stat(terminals, &info) == 0, folders.insert(FileName(info)).inserted {
                    self.terminals += FolderNames.of(terminals).count { Int($0) != nil }
                }
                let folder = "/proc/\(id)/fd"
                for name in FolderNames.of(folder) {
                    files += 1
                    guard files <= HeldResources.mostFiles else { return }
                    count("\(folder)/\(name)", &seen)
                }
            }
        #endif
    }

    #if os(Linux)
        /// The identity of a file on this machine.
        private struct FileName: Hashable {
            let device: dev_t
            let number: ino_t
            init(_ info: stat) { (device, number) = (info.st_dev, info.st_ino) }
        }

        private mutating func count(_ path: String, _ seen: inout Set<FileName>) {
            var info = stat()
            guard stat(path, &info) == 0, info.st_mode & S_IFMT == S_IFREG, info.st_nlink == 0,
                seen.insert(FileName(info)).inserted
            else { return }
            var system = statfs()
            let isInMemory = statfs(path, &system) == 0 && HeldResources.inMemory.contains(Int(system.f_type))
            let bytes = Int(info.st_blocks) * 512
            if isInMemory { unlinkedMemory += bytes } else { unlinkedBytes += bytes }
        }

        /// tmpfs, hugetlbfs and ramfs, by the magic numbers of statfs(2).
        private static let inMemory: Set<Int> = [0x0102_1994, 0x9584_58f6, 0x8584_58f6]
    #endif
}

/// The memory of processes that no control group counts.
enum ProcessMemory {
    /// Their private and shared memory in bytes, without cached parts of files on disk.
    ///
    /// - Parameter held: Files in memory, which may be mapped or not.
    static func bytes(of processes: RunProcesses, _ held: HeldResources) -> Int {
        var (own, shared) = (0, 0)
        #if os(Linux)
            for id in processes.ids {
                // A page that several processes share counts in part for each of them (proc_pid_smaps(5)).
                guard let text = try? KernelFile.content(of: "/proc/\(id)/smaps_rollup") else { continue }
                own += kibibytes("Pss_Anon:", in: text) << 10
                shared += kibibytes("Pss_Shmem:", in: text) << 10
            }
        #endif
        return own + max(shared, held.unlinkedMemory)
    }

    private static func kibibytes(_ name: String, in text: [UInt8]) -> Int {
        for line in text.split(separator: 0x0A) where line.starts(with: name.utf8) {
            let digits = line.dropFirst(name.utf8.count).drop { $0 == 0x20 }.prefix { (0x30...0x39).contains($0) }
            return Int(String(decoding: digits, as: UTF8.self)) ?? 0
        }
        return 0
    }
}

#if os(Linux)
    /// Lists the names in a folder; none if it can't be read.
    private enum FolderNames {
        static func of(_ folder: String) -> [String] {
            guard let listing = opendir(folder) else { return [] }
            defer { closedir(listing) }
            var names: [String] = []
            while let entry = readdir(listing) {
                let name = withUnsafePointer(to: &entry.pointee.d_name) { field in
                    field.withMemoryRebound(to: CChar.self, capacity: MemoryLayout.size(ofValue: field.pointee)) {
                        String(cString: $0)
                    }
                }
                if name != ".", name != ".." { names.append(name) }
                if names.count > HeldResources.mostFiles { break }
            }
            return names
        }
    }
#endif
