import TestBasics
import Sandbox
import Foundation
import TestSupport
import Testing

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

@Suite(.runFolder, .timeLimit(.minutes(1))) struct ExternalCommandTests {
    @Test func `a command runs to its end`() async throws {
        let result = try await ExternalCommand("sh", ["-c", "echo one; echo two >&2; echo three; exit 3"]).run()
        #expect(result.ending == .exited(3))
        #expect(result.text == "one\ntwo\nthree\n")
        #expect(result.droppedBytes == 0)
        #expect(!result.succeeded)
    }

    @Test func `arguments are not split or expanded`() async throws {
        let result = try await ExternalCommand("/bin/echo", ["a  b", "$HOME", "*", "'"]).run()
        #expect(result.text == "a  b $HOME * '\n")
    }

    @Test func `the folder and variables reach the command`() async throws {
        let room = RunFolder.current.root
        let result = try await ExternalCommand(
            "/bin/sh", ["-c", "pwd -P; echo $A; env | wc -l"], in: room,
            environment: ["A": "b=c", "PATH": "/usr/bin:/bin"]
        ).run()
        let lines = result.text.split(separator: "\n")
        #expect(lines.first?.hasSuffix(room.split(separator: "/").last ?? "?") == true)
        #expect(lines[1] == "b=c")
    }

    @Test func `a missing program is an error that names it`() async throws {
        let error = await #expect(throws: ExternalCommandError.self) {
            try await ExternalCommand("/nonexistent/tool").run()
        }
        #expect(error?.executable == "/nonexistent/tool")
        #expect(error?.description.contains("/nonexistent/tool") == true)
    }

    @Test func `a missing folder is an error that names it`() async throws {
        let error = await #expect(throws: ExternalCommandError.self) {
            try await ExternalCommand("/bin/sh", in: "/nonexistent/folder").run()
        }
        #expect(error?.description.contains("/nonexistent/folder") == true)
    }

    @Test func `a signal is reported`() async throws {
        let result = try await ExternalCommand("/bin/sh", ["-c", "kill -9 $$"]).run()
        #expect(result.ending == .signal(SIGKILL))
    }

    @Test func `the head and tail of a long output are kept`() async throws {
        let result = try await ExternalCommand(
            "/bin/sh", ["-c", "echo first; yes | head -c 5000000; echo last"], outputLimit: 1_000
        ).run()
        #expect(result.text.hasPrefix("first\ny\ny\n"))
        #expect(result.text.hasSuffix("y\ny\nlast\n"))
        #expect(result.droppedBytes == 5_000_000 + 11 - 1_000)
        #expect(result.text.contains("\(result.droppedBytes) bytes dropped"))
        #expect(result.output.count < 1_100)
    }

    @Test func `output of exactly the limit is complete`() async throws {
        let result = try await ExternalCommand("/bin/sh", ["-c", "printf 0123456789"], outputLimit: 10).run()
        #expect(result.text == "0123456789")
        #expect(result.droppedBytes == 0)
    }

    @Test func `the deadline ends a command that ignores SIGTERM, with its children`() async throws {
        let pids = "\(RunFolder.current.root)/pids"
        let script = "trap '' TERM; echo hello; sleep 1000 & echo $! $$ > \(pids); while :; do sleep 1000; done"
        let start = ContinuousClock.now
        let result = try await ExternalCommand(
            "/bin/sh", ["-c", script], deadline: .milliseconds(500), grace: .milliseconds(200)
        )
        .run()
        #expect(result.ending == .deadline(.milliseconds(500)))
        #expect(result.text == "hello\n")
        #expect(ContinuousClock.now - start < .seconds(120))
        try await expectGone(pids)
    }

    @Test func `a child that outlives its command is ended`() async throws {
        let pids = "\(RunFolder.current.root)/pids"
        let result = try await ExternalCommand("/bin/sh", ["-c", "(trap '' TERM; sleep 1000) & echo $! > \(pids)"])
            .run()
        #expect(result.ending == .exited(0))
        try await expectGone(pids)
    }

    @Test func `cancellation ends the command and its children`() async throws {
        let pids = "\(RunFolder.current.root)/pids"
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                _ = try await ExternalCommand(
                    "/bin/sh",
                    [
                        "-c",
                        "trap '' TERM; sleep 1000 & echo $! $$ > \(pids).new; mv \(pids).new \(pids); wait; sleep 1000",
                    ],
                    grace: .milliseconds(200)
                ).run()
            }
            try await eventually("the processes") { FileManager.default.fileExists(atPath: pids) }
            group.cancelAll()
            await #expect(throws: CancellationError.self) { try await group.next() }
        }
        try await expectGone(pids)
    }

    /// Waits until none of the processes runs; a zombie that is not reaped yet has ended.
    private func expectGone(_ file: String) async throws {
        let pids = try String(contentsOfFile: file, encoding: .utf8).split { $0.isWhitespace }.compactMap { pid_t($0) }
        #expect(!pids.isEmpty)
        for pid in pids {
            try await eventually("the end of process \(pid)") {
                if kill(pid, 0) != 0 { return true }
                let state = try? String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8)
                return state?.contains(") Z ") == true
            }
        }
    }
}
