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

/// The process that holds the mount of one run's workspace: `stepinit --layers`.
///
/// The mount is in a namespace that only this process and what enters it are in, and goes with them: whatever is
/// killed, the box's own mounts never change. Whoever dies first, the kernel undoes the mount.
package final class OverlayMount: Sendable {
    /// A folder that is shown, and who owns its files on the disk.
    package struct Shown: Sendable {
        var path: String
        var owner: StepUser

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
        /// The mounted folder, open: it stays readable even when the process is killed.
        var root: Int32 = -1
    }

    private let state: Mutex<State?>
    private let stepInit: String
    private let folder: String

    /// How long each answer may take.
    private static let patience = Duration.seconds(20)

    /// Mounts `folder`/upper over `layers`, newest first, at `folder`/merged; `folder` also holds an empty `work`.
    ///
    /// All files in it are `user`'s, whoever owns them on the disk; without root there is one user anyway. Blocks for
    /// some milliseconds.
    /// - Throws: ``OverlayProblem`` when that can't be done here; `Errno` when it can't be started.
    package static func start(
        stepInit: String, folder: String, layers: [Shown], user: StepUser?
    ) throws -> OverlayMount {
        let holder = try open(stepInit: stepInit, folder: folder, user: user)
        holder.take(layers)
        try holder.mount()
        return holder
    }

    /// Starts the process for a mount to come, whose layers need not be known; returns at once.
    ///
    /// - Throws: `Errno` when it can't be started.
    package static func open(stepInit: String, folder: String, user: StepUser?) throws -> OverlayMount {
        let (ours, theirs) = try socketPair()
        defer { closeFile(theirs) }
        do {
            let pid = try SpawnRequest(
                [stepInit, "--layers", folder, words(user ?? .box)], descriptors: [(own: theirs, given: 0)]
            ).start().get()
            return OverlayMount(State(socket: ours, pid: pid), stepInit: stepInit, folder: folder)
        } catch {
            closeFile(ours)
            throw error
        }
    }

    private static func words(_ user: StepUser) -> String { "\(user.user):\(user.group)" }

    /// Has the process take up layers, newest first, once; what is in them may change until ``mount()``.
    ///
    /// Returns at once: what goes wrong is thrown there.
    package func take(_ layers: [Shown]) {
        say(layers.flatMap { [OverlayMount.words($0.owner), $0.path] })
    }

    /// Waits until what ``enter`` starts sees the place of the mount, and the mount itself once that is there.
    ///
    /// - Throws: ``OverlayProblem`` when that can't be done here; the process has ended then.
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

    /// Mounts what was taken up, once; blocks until it is there.
    ///
    /// - Throws: ``OverlayProblem`` when that can't be done here; the process has ended then.
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

    /// A problem is told by the answer that is waited for: the process has ended then, and said why.
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

    /// The words before a command that is to see the mount, and `folder` otherwise as the box does.
    ///
    /// The number is no other process's before this one is waited for, which only ``close()`` does.
    package var enter: [String] { [stepInit, "--within", String(state.withLock { $0?.pid ?? 0 }), "--"] }

    /// How the mount is reached; nil before ``mount()`` and after ``close()``.
    package var place: WorkspaceMount? {
        guard let root = state.withLock({ $0?.root }), root >= 0 else { return nil }
        return WorkspaceMount(
            // With the dot it is a folder like any other, also for those that open it without following links.
            view: FilePath("/proc/self/fd/\(root)/."), upper: FilePath("\(folder)/upper"), enter: enter,
            isThere: { self.isRunning })
    }

    /// Whether the process is there; to be asked when it is open.
    package var isRunning: Bool {
        state.withLock { state in
            guard let state else { return false }
            // All that it says is heard before it is asked for: what can be read is the end.
            var look = pollfd(fd: state.socket, events: Int16(POLLIN), revents: 0)
            return poll(&look, 1, 0) == 0
        }
    }

    deinit { close() }

    /// Ends the process and with it the mount; to be called when nothing of the run is alive.
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
        // It has nothing to do but to go, also one that was stopped; only a disk that hangs could keep it.
        kill(state.pid, SIGKILL)
        ChildEnd.reap(state.pid)
    }

    /// What it says, up to the end of a line or of everything.
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

/// Why workspaces can't be laid over others on this machine.
package struct OverlayProblem: Error, Sendable, CustomStringConvertible {
    package let description: String

    package init(_ description: String) { self.description = description }
}
