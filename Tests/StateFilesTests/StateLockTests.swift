import TestBasics
import TestSupport
import Foundation
import Testing

@testable import StateFiles

@Suite("State lock") struct StateLockTests {
    private func withFolder(_ body: (StateFolder) async throws -> Void) async throws {
        try await withTemporaryFolder { scratch in
            let folder = try StateFolder(environment: ["PIPECTL_HOME": scratch + "/state"])
            try folder.create()
            try await body(folder)
        }
    }

    @Test func `only one process has the lock`() async throws {
        try await withFolder { folder in
            let first = try StateLock.acquire(folder, purpose: "watch")
            let error = #expect(throws: StateError.self) { try StateLock.acquire(folder, purpose: "run") }
            #expect(error?.code == .locked)
            #expect(error?.message.contains("(pid \(getpid()), `watch`) owns \"\(folder.path)\"") == true)
            first.release()
            // All of it was done while the file was open.
            #expect(try Data(contentsOf: URL(fileURLWithPath: folder.lock)).isEmpty)
            let second = try StateLock.acquire(folder, purpose: "run")
            first.release()
            #expect(throws: StateError.self) { try StateLock.acquire(folder, purpose: "watch") }
            second.release()
        }
    }

    @Test func `the lock ends with its last user`() async throws {
        try await withFolder { folder in
            do { _ = try StateLock.acquire(folder, purpose: "watch") }
            _ = try StateLock.acquire(folder, purpose: "watch")
        }
    }

    #if os(Linux)
        @Test func `child processes do not inherit the lock`() async throws {
            try await withFolder { folder in
                let lock = try StateLock.acquire(folder, purpose: "watch")
                let numbers = descriptors(about: folder.lock)
                #expect(numbers.count == 1)
                for number in numbers { #expect(fcntl(number, F_GETFD) & FD_CLOEXEC != 0) }
                lock.release()
                #expect(descriptors(about: folder.lock).isEmpty)
            }
        }
    #endif

    /// A process that dies by SIGKILL takes its lock along, whatever its file still says.
    @Test(.timeLimit(.minutes(1))) func `the lock of a dead owner is taken over`() async throws {
        try await withFolder { folder in
            let script = """
                use Fcntl ':flock'; $| = 1; open(F, '>', $ARGV[0]) or die; flock(F, LOCK_EX) or die;
                syswrite(F, "$$ watch\\n"); print "held\\n"; sleep 60;
                """
            let output = "\(folder.path)/said"
            let holder = try Child(["perl", "-e", script, folder.lock], in: "/", output: output)
            try await eventually("the lock of the other process") {
                FileManager.default.contents(atPath: output + "1") == Data("held\n".utf8)
            }
            let error = #expect(throws: StateError.self) { try StateLock.acquire(folder, purpose: "run") }
            #expect(error?.message.contains("pid \(holder.id), `watch`") == true)
            holder.kill()
            _ = await holder.end
            _ = try StateLock.acquire(folder, purpose: "run")
        }
    }
}
