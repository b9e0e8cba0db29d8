import Results
import TerminalText
import Pipeline
import Synchronization
import SystemPackage

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// The process that holds the overlay mount of one run's workspace: `stepinit --layers`.
///
/// The mount exists only in the namespace of this process and of the processes that enter it, so the machine's own
/// mounts never change. When the last of them ends, even by kill -9, the kernel removes the mount.
package final class OverlayMount: Sendable {
    /// A folder that becomes a layer, and the owner of its files on disk.
    package struct Shown: Sendable {
        var path: String
        var owner: StepUser

        /// A layer at `path`, whose files on disk belong to `owner`.
        package init(path: String, owner: StepUser) {
            self.path = path
            self.owner = owner
        }
    }

    private struct State {
        var socket: Int32
        var pid: pid_t
        /// Whether its namespace can be entered.
        var isOpen = false
        /// A descriptor of the mounted folder; it stays readable even if the process is killed.
        var root: Int32 = -1
    }

    private let state: Mutex<State?>
    private let stepInit: String
    private let folder: String

    /// How long each answer of the process may take.
    private static let patience = Duration.seconds(20)

    /// Mounts `folder`/upper over `layers`, newest first, at `folder`/merged; `folder` also contains an empty `work`.
    ///
    /// All files in the mount belong to `user`, whoever owns them on disk; without root there is only one user. It
    /// blocks for some milliseconds.
    /// - Throws: ``OverlayProblem`` if overlays can't be used here; `Errno` if the process can't be started.
    package static func start(
        stepInit: String, folder: String, layers: [Shown], user: StepUser?
    ) throws -> OverlayMount {
        let holder = try open(stepInit: stepInit, folder: folder, user: user)
        holder.take(layers)
        try holder.mount()
        return holder
    }

    /// Starts the process before the layers of its mount are known, and returns at once.
    ///
    /// - Throws: `Errno` if the process can't be started.
    package static func open(stepInit: String, folder: String, user: StepUser?) throws -> OverlayMount {
        let (ours, theirs) = try socketPair()
        defer { closeFile(theirs) }
        do {
            let pid = try SpawnRequest(
                [stepInit, "--layers", folder, words(user ?? .daemon)], descriptors: [(own: theirs, given: 0)]
            ).start().get()
            return OverlayMount(State(socket: ours, pid: pid), stepInit: stepInit, folder: folder)
        } catch {
            closeFile(ours)
            throw error
        }
    }

    private static func words(_ user: StepUser) -> String { "\(user.user):\(user.group)" }

    /// Passes the layers to the process, newest first. Call it once. Their content may change until ``mount()``.
    ///
    /// It returns at once; ``mount()`` throws its errors.
    package func take(_ layers: [Shown]) {
        say(layers.flatMap { [OverlayMount.words($0.owner), $0.path] })
    }

    /// Waits until the command ``enter`` can be used. What it starts sees the mount as soon as that exists.
    ///
    /// - Throws: ``OverlayProblem`` if overlays can't be used here; the process has ended then.
    package func waitUntilOpen() throws {
        guard let held = state.withLock({ $0 }) else { throw OverlayProblem("it has ended") }
        if held.isOpen { return }
        do {
            try OverlayMount.hear("open", from: held.socket)
            state.withLock { $0?.isOpen = true }
        } catch {
            close()
            throw error
        }
    }

    /// Mounts the layers and blocks until that is done. Call it once.
    ///
    /// - Throws: ``OverlayProblem`` if overlays can't be used here; the process has ended then.
    package func mount() throws {
        guard let held = state.withLock({ $0 }), held.root < 0 else {
            throw OverlayProblem("it is mounted already, or has ended")
        }
        say([""])
        try waitUntilOpen()
        do {
            try OverlayMount.hear("ready", from: held.socket)
            let root = openFolder("/proc/\(held.pid)/root\(folder)/merged")
            guard root >= 0 else { throw OverlayProblem("opening the mount: \(Errno(rawValue: errno))") }
            state.withLock { $0?.root = root }
        } catch {
            close()
            throw error
        }
    }

    /// An error is reported by the answer that is waited for: the process prints the reason and ends.
    private func say(_ words: [String]) {
        guard let socket = state.withLock({ $0?.socket }) else { return }
        let bytes = words.flatMap { word -> [UInt8] in Array(word.utf8) + [0] }
        _ = send(socket, bytes, bytes.count, noSignal)
    }

    private static func hear(_ expected: String, from socket: Int32) throws {
        let answer = try line(from: socket)
        guard answer == expected else { throw OverlayProblem(answer.isEmpty ? "stepinit ended" : answer) }
    }

    private init(_ state: State, stepInit: String, folder: String) {
        self.state = Mutex(state)
        self.stepInit = stepInit
        self.folder = folder
    }

    /// The start of a command that is to see the mount; it sees everything else as the daemon does.
    ///
    /// The process id can't be reused before ``close()``, which alone waits for the process.
    package var enter: [String] { [stepInit, "--within", String(state.withLock { $0?.pid ?? 0 }), "--"] }

    /// How the mount is reached; nil before ``mount()`` and after ``close()``.
    package var place: WorkspaceMount? {
        guard let root = state.withLock({ $0?.root }), root >= 0 else { return nil }
        return WorkspaceMount(
            // With the dot at its end the path is a folder even for those that open it without following links.
            view: FilePath("/proc/self/fd/\(root)/."), upper: FilePath("\(folder)/upper"), enter: enter,
            isThere: { self.isRunning })
    }

    /// Whether the process is running. Ask only after ``waitUntilOpen()``.
    package var isRunning: Bool {
        state.withLock { state in
            guard let state else { return false }
            // All its messages have been read before this is asked, so if its socket is readable now, the process has
            // ended.
            var look = pollfd(fd: state.socket, events: Int16(POLLIN), revents: 0)
            return poll(&look, 1, 0) == 0
        }
    }

    deinit { close() }

    /// Ends the process and with it the mount. Call it when no process of the run is alive.
    package func close() {
        guard
            let open = state.withLock({ state in
                defer { state = nil }
                return state
            })
        else { return }
        OverlayMount.end(open)
    }

    private static func end(_ state: State) {
        if state.root >= 0 { closeFile(state.root) }
        closeFile(state.socket)
        // The process ends at once, even if it was stopped; only a disk that hangs could delay it.
        kill(state.pid, SIGKILL)
        ChildEnd.reap(state.pid)
    }

    /// Reads a message of the process, up to the end of the line or of the stream.
    private static func line(from socket: Int32) throws -> String {
        let limit = ContinuousClock.now + patience
        var text: [UInt8] = []
        while text.last != 0x0A {
            var look = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
            let left = (limit - ContinuousClock.now).inSeconds * 1_000
            guard left > 0 else { throw OverlayProblem("stepinit has not answered within \(patience.inWords)") }
            guard poll(&look, 1, Int32(left)) > 0 else { continue }
            var byte: UInt8 = 0
            let count = recv(socket, &byte, 1, 0)
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { break }
            text.append(byte)
        }
        return TerminalText.name(
            String(decoding: text.last == 0x0A ? text.dropLast() : text[...], as: UTF8.self), limit: 2_000)
    }
}

private func openFolder(_ path: String) -> Int32 { open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) }

/// Why workspaces can't use overlays on this machine.
package struct OverlayProblem: Error, Sendable, CustomStringConvertible {
    /// The reason.
    package let description: String

    package init(_ description: String) { self.description = description }
}
