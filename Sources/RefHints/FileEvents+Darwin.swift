#if os(macOS)
    internal import CoreServices
    internal import Dispatch
    internal import Foundation

    extension FileEvents {
        /// The same as the public function. FSEvents watches whole trees, so `maximumWatches` is not used.
        static func refChanges(
            inGitDirectories paths: [String], maximumWatches: Int
        ) async throws -> AsyncStream<RefHint> {
            var repositories: [RefFolders] = []
            for path in paths { repositories.append(try RefFolders(path)) }
            // At most one hint per repository and cause has to be buffered; `FSEventsListener` sends no more than that.
            let (stream, continuation) = AsyncStream.makeStream(
                of: RefHint.self, bufferingPolicy: .bufferingNewest(max(64, repositories.count * 4)))
            let listener = FSEventsListener(repositories, continuation)
            guard let events = FSEventsStream(listener) else {
                throw FileEventsError(
                    .unavailable, "FSEvents gives no stream. pipectl polls for changes instead.")
            }
            continuation.onTermination = { _ in events.stop() }
            return stream
        }
    }

    /// Decides which paths of an FSEvents callback are worth a hint.
    private final class FSEventsListener: Sendable {
        let folders: [String]
        private let repositories: [RefFolders]
        private let continuation: AsyncStream<RefHint>.Continuation

        init(_ repositories: [RefFolders], _ continuation: AsyncStream<RefHint>.Continuation) {
            self.repositories = repositories
            self.continuation = continuation
            folders = Array(Set(repositories.flatMap { [$0.common, $0.own] }))
        }

        func receive(_ events: [(path: String, flags: Int)]) {
            var causes: [Int: RefHint.Cause] = [:]
            for (path, flags) in events {
                for (index, folders) in repositories.enumerated() {
                    if flags & (kFSEventStreamEventFlagMustScanSubDirs | kFSEventStreamEventFlagEventIdsWrapped) != 0 {
                        causes[index] = .overflow
                    } else if flags & kFSEventStreamEventFlagRootChanged != 0, (try? RefFolders(folders.name)) == nil {
                        causes[index] = .gone
                    } else if isRefChange(path, folders) {
                        causes[index] = causes[index] ?? .changed
                    }
                }
            }
            for (index, cause) in causes {
                continuation.yield(RefHint(gitDirectory: repositories[index].name, cause: cause))
            }
        }

        private func isRefChange(_ path: String, _ folders: RefFolders) -> Bool {
            [folders.common, folders.own].contains { root in
                guard path.hasPrefix(root + "/"), !path.hasSuffix(".lock") else { return false }
                let entry = path.dropFirst(root.count + 1)
                return entry.hasPrefix("refs/") || RefFolders.isInteresting(String(entry))
            }
        }
    }

    /// One FSEvents stream; its latency coalesces bursts.
    ///
    /// `@unchecked Sendable`: the stream reference is set once in `init` and used again only in `stop`, which FSEvents
    /// allows from any thread and `AsyncStream` calls once.
    private final class FSEventsStream: @unchecked Sendable {
        private let stream: FSEventStreamRef

        init?(_ listener: FSEventsListener) {
            var context = FSEventStreamContext()
            context.info = Unmanaged.passUnretained(listener).toOpaque()
            context.retain = { info in
                guard let info else { return nil }
                return UnsafeRawPointer(Unmanaged<FSEventsListener>.fromOpaque(info).retain().toOpaque())
            }
            context.release = { info in
                if let info { Unmanaged<FSEventsListener>.fromOpaque(info).release() }
            }
            let flags =
                kFSEventStreamCreateFlagFileEvents | kFSEventStreamCreateFlagNoDefer
                | kFSEventStreamCreateFlagWatchRoot | kFSEventStreamCreateFlagUseCFTypes
            let callback: FSEventStreamCallback = { _, info, count, paths, flags, _ in
                guard let info else { return }
                let paths = Unmanaged<CFArray>.fromOpaque(paths).takeUnretainedValue() as? [String] ?? []
                let events = zip(paths, UnsafeBufferPointer(start: flags, count: count)).map {
                    (path: $0, flags: Int($1))
                }
                Unmanaged<FSEventsListener>.fromOpaque(info).takeUnretainedValue().receive(events)
            }
            guard
                let stream = FSEventStreamCreate(
                    nil, callback, &context, listener.folders as CFArray,
                    FSEventStreamEventId(kFSEventStreamEventIdSinceNow), 0.005, FSEventStreamCreateFlags(flags))
            else { return nil }
            self.stream = stream
            FSEventStreamSetDispatchQueue(stream, DispatchQueue(label: "pipectl.fsevents"))
            guard FSEventStreamStart(stream) else {
                FSEventStreamInvalidate(stream)
                FSEventStreamRelease(stream)
                return nil
            }
        }

        func stop() {
            FSEventStreamStop(stream)
            FSEventStreamInvalidate(stream)
            FSEventStreamRelease(stream)
        }
    }
#endif
