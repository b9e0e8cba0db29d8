import Foundation
import MachineProtocol
import TestBasics
import Testing

@testable import MachineAgent

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// What agents and runs leave on a machine, and which of it the next agent removes.
@Suite(.timeLimit(.minutes(1))) struct LeftoverTests {
    /// Makes it as old as if nobody had touched it for so many days.
    private func age(_ path: String, days: Double) {
        let then = timeval(tv_sec: time(nil) - Int(days * 86_400), tv_usec: 0)
        _ = utimes(path, [then, then])
    }

    private func names(in folder: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
    }

    @Test func `folders of agents that never came or were killed are removed, and those of others stay`() async throws {
        try await withTemporaryFolder { folder in
            func make(_ name: String, days: Double, mode: mode_t = 0o700, hasLock: Bool = false) throws -> String {
                let path = "\(folder)/\(name)"
                try #require(mkdir(path, mode) == 0 && chmod(path, mode) == 0)
                if hasLock { _ = FileManager.default.createFile(atPath: "\(path)/lock", contents: nil) }
                age(path, days: days)
                return path
            }
            _ = try make("pipectl-agent-gone", days: 2)
            _ = try make("pipectl-agent-killed", days: 0.01, hasLock: true)
            _ = try make("pipectl-agent-soon", days: 0.5)
            _ = try make("pipectl-agent-open", days: 2, mode: 0o755)
            _ = try make("other", days: 2)
            let alive = try make("pipectl-agent-alive", days: 2, hasLock: true)
            let lock = FolderLock("\(alive)/lock", creates: false, isShared: false)
            let room = try AgentRoom(make("pipectl-agent-own", days: 0))
            #expect(
                try names(in: folder) == [
                    "other", "pipectl-agent-alive", "pipectl-agent-open", "pipectl-agent-own", "pipectl-agent-soon",
                ])
            withExtendedLifetime((lock, room)) {}
        }
    }

    @Test func `caches that no run used for long are removed`() async throws {
        try await withTemporaryFolder { path in
            let folder = AgentFolder(path: path)
            try folder.prepare()
            func order(_ name: String, writes: Bool) -> WorkspaceOrder {
                WorkspaceOrder(
                    repository: "r", commit: "", needsSandbox: false, caches: [name], writesCaches: writes)
            }
            for name in ["old", "read", "written", "held"] {
                _ = try RunCaches(order(name, writes: true), user: nil, in: folder)
            }
            for name in try names(in: "\(folder.caches)/r") { age("\(folder.caches)/r/\(name)", days: 61) }
            let held = try RunCaches(order("held", writes: true), user: nil, in: folder)
            age("\(folder.caches)/r/.held.lock", days: 61)
            #expect(try RunCaches(order("read", writes: false), user: nil, in: folder).mounts.count == 1)
            _ = try RunCaches(order("written", writes: true), user: nil, in: folder)
            RunCaches.removeUnused(in: folder.caches, for: 60 * 86_400)
            let left = try names(in: "\(folder.caches)/r").filter { !$0.hasPrefix(".") }
            #expect(left == ["held", "read", "written"])
            withExtendedLifetime(held) {}
        }
    }
}
