import SystemCalls

#if os(Linux)
    internal import Dispatch
    internal import Foundation

    extension FileEvents {
        /// The same as the public function, with at most `maximumWatches` of the kernel's watches, which take about 1
        /// KiB each.
        static func refChanges(
            inGitDirectories paths: [String], maximumWatches: Int
        ) async throws -> AsyncStream<RefHint> {
            var repositories: [RefFolders] = []
            for path in paths { repositories.append(try RefFolders(path)) }
            let watcher = try InotifyWatcher(maximumWatches: maximumWatches)
            await watcher.start(repositories)
            return AsyncStream(
                unfolding: { await watcher.next() },
                onCancel: { watcher.close() })
        }
    }

    /// Watches the refs of some repositories through inotify(7).
    ///
    /// It reads events only when it is asked for the next hint. The kernel buffers events until then; if its buffer
    /// overflows, it reports that once (`IN_Q_OVERFLOW`), which gives a hint, too.
    actor InotifyWatcher {
        private enum Role: Equatable {
            /// The Git folder itself: only some names matter.
            case root
            /// `refs` or a folder in it: every name matters.
            case refs
        }

        private struct Watched: Equatable {
            var repository: Int
            var path: String
            var role: Role
        }

        private let queue = QueueExecutor(label: "pipectl.inotify")
        nonisolated var unownedExecutor: UnownedSerialExecutor { queue.asUnownedSerialExecutor() }

        private let descriptor: Descriptor
        private let readable: Readiness
        private let maximumWatches: Int
        private var repositories: [RefFolders?] = []
        private var watched: [Int32: [Watched]] = [:]
        /// The caller's names of the repositories that still exist.
        private var names: [Int: String] = [:]
        private var limits: [Int: String] = [:]
        private var pending: [RefHint] = []
        /// Locks of refs that are about to change, as far as is known.
        private var locks: Set<String> = []

        init(maximumWatches: Int) throws(FileEventsError) {
            let number = inotify_init1(Int32(IN_NONBLOCK | IN_CLOEXEC))
            guard number >= 0 else {
                throw FileEventsError(
                    .unavailable,
                    "\(SystemFailure("inotify_init1")): no file events. Raise fs.inotify.max_user_instances with sysctl; "
                        + "until then pipectl polls for changes.")
            }
            descriptor = Descriptor(number)
            readable = Readiness(descriptor, .reading)
            self.maximumWatches = maximumWatches
        }

        deinit { readable.close() }

        nonisolated func close() { readable.close() }

        func start(_ repositories: [RefFolders]) {
            self.repositories = repositories
            for index in repositories.indices { watch(index) }
        }

        /// The next hint, `nil` at the end.
        func next() async -> RefHint? {
            while !Task.isCancelled {
                if !pending.isEmpty { return pending.removeFirst() }
                if repositories.allSatisfy({ $0 == nil }) { return nil }
                var changes = Changes()
                if !readEvents(into: &changes) {
                    await readable.wait()
                    continue
                }
                if !changes.isEmpty { readOn(into: &changes) }
                apply(changes)
            }
            return nil
        }

        // MARK: Events

        private struct Changes {
            var repositories: Set<Int> = []
            var suspects: Set<Int> = []
            var hasOverflowed = false
            var isEmpty: Bool { repositories.isEmpty && suspects.isEmpty && !hasOverflowed }
        }

        /// A push of many refs locks all of them before it changes the first. To give one hint for all, this waits for
        /// the others, 0.3 ms after the last one and 3 ms at most.
        ///
        /// On the queue of the watcher, by the clock of the kernel: a timer of the cooperative pool may be 1 ms late.
        private func readOn(into changes: inout Changes) {
            for _ in 0..<10 where !locks.isEmpty {
                usleep(300)
                if !readEvents(into: &changes) { return }
            }
        }

        /// Reads the available events; `false` if there were none.
        private func readEvents(into changes: inout Changes) -> Bool {
            var bytes = [UInt8](repeating: 0, count: 1 << 16)
            var any = false
            while true {
                let count = read(descriptor.number, &bytes, bytes.count)
                guard count > 0 else { return any }
                any = true
                bytes.withUnsafeBytes { bytes in
                    var offset = 0
                    let header = MemoryLayout<inotify_event>.size
                    while offset + header <= count {
                        let event = bytes.loadUnaligned(fromByteOffset: offset, as: inotify_event.self)
                        let name = bytes[(offset + header)..<(offset + header + Int(event.len))].prefix { $0 != 0 }
                        offset += header + Int(event.len)
                        handle(event, String(decoding: name, as: UTF8.self), &changes)
                    }
                }
            }
        }

        private func handle(_ event: inotify_event, _ name: String, _ changes: inout Changes) {
            func has(_ bits: Int32...) -> Bool { bits.contains { event.mask & UInt32(bitPattern: $0) != 0 } }
            if has(IN_Q_OVERFLOW) {
                changes.hasOverflowed = true
                locks = []
                return
            }
            guard let places = watched[event.wd] else { return }
            if has(IN_IGNORED) { watched[event.wd] = nil }
            for place in places {
                if has(IN_IGNORED, IN_DELETE_SELF, IN_MOVE_SELF, IN_UNMOUNT) {
                    if place.role == .root { changes.suspects.insert(place.repository) }
                    changes.repositories.insert(place.repository)
                    continue
                }
                let isFolder = has(IN_ISDIR)
                if name.hasSuffix(".lock") && !isFolder {
                    if place.role == .refs { note(place.path + "/" + name, isThere: has(IN_CREATE, IN_CLOSE_WRITE)) }
                    continue
                }
                if place.role == .root && !RefFolders.isInteresting(name) { continue }
                if isFolder && has(IN_CREATE, IN_MOVED_TO) && (place.role == .refs || name == "refs") {
                    let isEmpty = watchTree(place.path + "/" + name, place.repository)
                    // Git makes the folder of a new ref first. A snapshot now would only delay the one that contains
                    // the ref.
                    if isEmpty && place.role == .refs { continue }
                }
                changes.repositories.insert(place.repository)
            }
        }

        private func note(_ lock: String, isThere: Bool) {
            // If a lock was left behind, no event comes when its folder is removed.
            if locks.count >= 1_000 { locks = [] }
            if isThere { locks.insert(lock) } else { locks.remove(lock) }
        }

        private func apply(_ changes: Changes) {
            var causes: [Int: RefHint.Cause] = [:]
            for index in changes.repositories { causes[index] = .changed }
            if changes.hasOverflowed {
                for index in repositories.indices {
                    causes[index] = .overflow
                    // There may be new folders that no event announced.
                    watch(index)
                }
            }
            for index in changes.suspects {
                guard let old = repositories[index] else { continue }
                forget(index)
                if let new = try? RefFolders(old.name) {
                    // It was removed and made again under the same name.
                    repositories[index] = new
                    watch(index)
                } else {
                    repositories[index] = nil
                    causes[index] = .gone
                }
            }
            for (index, cause) in causes.sorted(by: { $0.key < $1.key }) { hint(index, cause) }
        }

        private func hint(_ index: Int, _ cause: RefHint.Cause) {
            guard let name = names[index] else { return }
            if cause == .gone { names[index] = nil }
            pending.removeAll { $0.gitDirectory == name && $0.cause == .changed }
            pending.append(RefHint(gitDirectory: name, cause: cause, limit: limits[index]))
        }

        // MARK: Watches

        private func watch(_ index: Int) {
            guard let folders = repositories[index] else { return }
            names[index] = folders.name
            for root in Set([folders.common, folders.own]) { add(root, index, .root) }
            // Branches first: if there are not enough watches, they are the most useful ones.
            add(folders.common + "/refs", index, .refs)
            for first in ["heads", "tags"] { watchTree(folders.common + "/refs/" + first, index) }
            watchTree(folders.common + "/refs", index)
        }

        /// Watches `path` and everything below it. The watch starts before the folder is read, so that what is made in
        /// between is found in one way or the other.
        ///
        /// - Returns: Whether all of it is watched and it had no ref when that began.
        @discardableResult
        private func watchTree(_ path: String, _ index: Int) -> Bool {
            var folders = [path]
            var isEmpty = true
            while let folder = folders.popLast() {
                guard add(folder, index, .refs) else {
                    isEmpty = false
                    continue
                }
                let content = content(of: folder)
                folders += content.folders
                if content.hasRefs { isEmpty = false }
            }
            return isEmpty
        }

        /// `false` if `path` is not a folder (any more), or there are no watches left.
        @discardableResult
        private func add(_ path: String, _ index: Int, _ role: Role) -> Bool {
            guard watched.count < maximumWatches else {
                limit(index, "\(watched.count) folders are watched, the limit")
                return false
            }
            let kind = IN_ONLYDIR | IN_DONT_FOLLOW | IN_EXCL_UNLINK | IN_DELETE_SELF | IN_MOVE_SELF
            // Git writes a lock and renames it; others may write in place, link or remove.
            let entries = IN_CREATE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE | IN_CLOSE_WRITE
            let watch = inotify_add_watch(descriptor.number, path, UInt32(bitPattern: kind | entries))
            guard watch >= 0 else {
                switch errno {
                case ENOSPC: limit(index, "the kernel gives this user no more watches (fs.inotify.max_user_watches)")
                case ENOENT, ENOTDIR, ELOOP: break
                default: limit(index, "\(SystemFailure("inotify_add_watch"))")
                }
                return false
            }
            // The kernel returns the same number for a folder that is watched already, also for one that two
            // repositories share.
            let place = Watched(repository: index, path: path, role: role)
            if watched[watch]?.contains(place) != true { watched[watch, default: []].append(place) }
            return true
        }

        private func forget(_ index: Int) {
            for (watch, places) in watched where places.contains(where: { $0.repository == index }) {
                let others = places.filter { $0.repository != index }
                if others.isEmpty {
                    watched[watch] = nil
                    inotify_rm_watch(descriptor.number, watch)
                } else {
                    watched[watch] = others
                }
            }
            limits[index] = nil
        }

        /// Reports once that this repository is watched only in part from now on.
        private func limit(_ index: Int, _ reason: String) {
            guard limits[index] == nil, let name = names[index] else { return }
            let text =
                "Some refs of \"\(name)\" are not watched: \(reason). pipectl polls for their changes. "
                + "\"git pack-refs --all\" reduces the number of folders, \"sysctl fs.inotify.max_user_watches\" shows the limit."
            limits[index] = text
            pending.append(RefHint(gitDirectory: name, cause: .limited, limit: text))
        }

        private func content(of path: String) -> (folders: [String], hasRefs: Bool) {
            // A folder that can't be read may contain anything, unless it is gone.
            guard let folder = opendir(path) else { return ([], errno != ENOENT) }
            defer { closedir(folder) }
            var found: [String] = []
            var hasRefs = false
            while let entry = readdir(folder) {
                let type = Int(entry.pointee.d_type)
                let name = withUnsafePointer(to: &entry.pointee.d_name) {
                    $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
                }
                if name == "." || name == ".." { continue }
                // Where the file system does not tell the type, the watch (IN_ONLYDIR) finds out.
                if type == DT_DIR || type == DT_UNKNOWN { found.append(path + "/" + name) }
                if type != DT_DIR && !name.hasSuffix(".lock") { hasRefs = true }
            }
            return (found, hasRefs)
        }
    }

    /// Runs an actor on a queue of its own, for calls that read from disk.
    final class QueueExecutor: SerialExecutor {
        private let queue: DispatchQueue

        init(label: String) { queue = DispatchQueue(label: label) }

        func enqueue(_ job: consuming ExecutorJob) {
            let job = UnownedJob(job)
            let executor = asUnownedSerialExecutor()
            queue.async { job.runSynchronously(on: executor) }
        }
    }
#endif
