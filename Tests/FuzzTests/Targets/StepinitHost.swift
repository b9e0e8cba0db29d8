import Foundation
import TestBasics
import TestSupport

@testable import Results
@testable import Engine
@testable import Sandbox

/// A running stepinit that takes arbitrary input; with memory checks when `script/fuzz` runs it.
final class StepinitHost {
    private let folder: String
    private let program: String
    private var socket: Int32 = -1
    private var pid: pid_t = 0
    private var attempts: UInt32 = 0
    private var descriptors: Int?

    init(folder: String) throws {
        self.folder = folder
        // It may run as a user who owns nothing else: see `start`.
        chmod(folder, 0o777)
        let tests = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
        let built = URL(filePath: tests).deletingLastPathComponent().appending(path: "stepinit").path
        let checked = ProcessInfo.processInfo.environment["PIPECTL_FUZZ_STEPINIT"] ?? ""
        program = checked.isEmpty ? built : checked
        try demand(FileManager.default.isExecutableFile(atPath: program), "no stepinit at \(program)")
        try start()
    }

    func end() {
        guard pid > 0 else { return }
        close(socket)
        kill(pid, SIGKILL)
        waitpid(pid, nil, 0)
        pid = 0
    }

    func attempt(_ random: inout SplitMix64) throws {
        attempts += 1
        let attempt = StepinitAttempt(id: attempts, folder: folder, &random)
        let (control, theirs) = try socketPair()
        let (output, log) = try socketPair()
        defer { for file in [control, output] { close(file) } }
        let null = open("/dev/null", O_RDWR | O_CLOEXEC)
        func given(_ count: Int, _ first: Int32) -> [Int32] {
            Array(([first] + Array(repeating: null, count: 11)).prefix(count))
        }
        let sent = DescriptorMessage.send(attempt.request, files: given(attempt.files, theirs), over: socket)
        close(theirs)
        try demand(sent == 0, "stepinit takes no request: \(sent)")
        let launchFiles = given(attempt.launchFiles, log)
        _ = DescriptorMessage.send(attempt.launch, files: launchFiles, over: control)
        var report: Report
        if attempt.mayRepeat {
            report = Self.report(from: control)
            if case .some(_, _, true) = report {
                try judge(attempt, report)
                _ = DescriptorMessage.send(attempt.launch, files: launchFiles, over: control)
                report = Self.report(from: control)
            }
        } else {
            if attempt.asksToEnd { Self.write([1], to: control) }
            if attempt.kills {
                _ = DescriptorMessage.send(
                    StepinitAttempt.bytes(UInt32(2)) + StepinitAttempt.bytes(attempt.id), files: [], over: socket)
            }
            // Nothing more follows, so a reader of the rest of a launch must not wait for ever.
            if attempt.leaves || !attempt.isSound { shutdown(control, Int32(SHUT_WR)) }
            report = Self.report(from: control)
        }
        for file in [log, null] { close(file) }
        // The supervisor, which may wait for another attempt, ends with its socket.
        shutdown(control, Int32(SHUT_RDWR))
        try judge(attempt, report)
        if attempt.endsHost {
            try demand(try hasEnded(within: 15), "stepinit stays after a request that is cut off")
            try start()
        } else {
            try demand(waitpid(pid, nil, WNOHANG) == 0, "stepinit has ended")
            if attempts.isMultiple(of: 25) { try demandClean() }
        }
    }

    private func judge(_ attempt: StepinitAttempt, _ report: Report) throws {
        switch report {
        case .late: throw FuzzViolation("no answer and no end within 15 seconds")
        case .none: try demand(!attempt.mustBeAnswered, "a sound request got no answer")
        case .some(let kind, let value, _):
            try demand((1...7).contains(kind), "a report of kind \(kind)")
            // 5: the supervisor was killed by the test, or it crashed.
            try demand(kind != 5 || attempt.kills, "the supervisor crashed, status \(value)")
            if attempt.mustBeAnswered, kind != 1 { try demand([2, 3, 6].contains(kind), "a report of kind \(kind)") }
        }
    }

    // MARK: The process

    private func start() throws {
        let (ours, theirs) = try socketPair()
        defer { close(theirs) }
        #if os(Linux)
            var actions = posix_spawn_file_actions_t()
        #else
            var actions: posix_spawn_file_actions_t?
        #endif
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, theirs, 0)
        // As root it gives that up first: no mistake of a test may reach the machine's own files.
        let arguments = [program] + (geteuid() == 0 ? ["--user", "65534:65534"] : [])
        var words: [UnsafeMutablePointer<CChar>?] = arguments.map { strdup($0) } + [nil]
        let checks = "ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1:log_path=\(folder)/asan:exitcode=99"
        var variables: [UnsafeMutablePointer<CChar>?] = [strdup(checks), nil]
        defer { for text in words + variables { free(text) } }
        var pid: pid_t = 0
        let code = posix_spawn(&pid, program, &actions, nil, &words, &variables)
        try demand(code == 0, "stepinit can't be started: \(code)")
        (self.socket, self.pid, descriptors) = (ours, pid, nil)
    }

    private func hasEnded(within seconds: Int) throws -> Bool {
        close(socket)
        for _ in 0..<(seconds * 1_000) {
            if waitpid(pid, nil, WNOHANG) == pid { return true }
            usleep(1_000)
        }
        return false
    }

    /// No process and no descriptor is left of what is over, and the checks of memory found nothing.
    private func demandClean() throws {
        let found = try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0.hasPrefix("asan") }
        if let log = found.first {
            let text = (try? String(contentsOfFile: "\(folder)/\(log)", encoding: .utf8)) ?? ""
            throw FuzzViolation("stepinit: \(text.prefix(1_500))")
        }
        #if os(Linux)
            let children = "/proc/\(pid)/task/\(pid)/children"
            var left = "?"
            for _ in 0..<15_000 where !left.isEmpty {
                left = (try? String(contentsOfFile: children, encoding: .utf8)) ?? ""
                if !left.isEmpty { usleep(1_000) }
            }
            try demand(left.isEmpty, "processes are left: \(left)")
            // The descriptors of another user's process can't be seen.
            guard var open = descriptorCount else { return }
            // A signal reports the supervisor's end; its descriptors are closed a moment later.
            for _ in 0..<5_000 where open > descriptors ?? .max {
                usleep(1_000)
                open = descriptorCount ?? open
            }
            if let descriptors {
                try demand(open <= descriptors, "\(open) descriptors are open, \(descriptors) were before")
            } else {
                descriptors = open
            }
        #endif
    }

    private var descriptorCount: Int? {
        try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(pid)/fd").count
    }

    // MARK: Bytes

    private enum Report {
        case some(kind: UInt32, value: Int32, isServedAgain: Bool)
        case none
        case late
    }

    private static func report(from control: Int32) -> Report {
        var bytes = [UInt8](repeating: 0, count: 12)
        var filled = 0
        while filled < 12 {
            var ready = pollfd(fd: control, events: Int16(POLLIN), revents: 0)
            let count = poll(&ready, 1, 15_000)
            if count < 0 && errno == EINTR { continue }
            if count == 0 { return .late }
            let got = bytes.withUnsafeMutableBytes { read(control, $0.baseAddress?.advanced(by: filled), 12 - filled) }
            if got <= 0 { return .none }
            filled += got
        }
        return bytes.withUnsafeBytes {
            .some(
                kind: $0.loadUnaligned(as: UInt32.self), value: $0.loadUnaligned(fromByteOffset: 4, as: Int32.self),
                isServedAgain: $0.loadUnaligned(fromByteOffset: 8, as: UInt32.self) & 4 != 0)
        }
    }

    private static func write(_ bytes: [UInt8], to socket: Int32) {
        bytes.withUnsafeBytes { _ = send(socket, $0.baseAddress, $0.count, noSignal) }
    }
}
