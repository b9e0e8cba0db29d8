import TestBasics
import SystemCalls
import TestSupport
import Control
import Foundation
import Testing

@testable import StateFiles

@Suite("State folder") struct StateFolderTests {
    private func mode(_ path: String) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    }

    #if os(Linux)
        @Test(
            arguments: [
                (["PIPECTL_HOME": "/a/b", "XDG_STATE_HOME": "/x", "HOME": "/h"], "/a/b"),
                (["PIPECTL_HOME": "/a/../b/", "HOME": "/h"], "/b"),
                (["PIPECTL_HOME": "", "XDG_STATE_HOME": "/x", "HOME": "/h"], "/x/pipectl"),
                (["XDG_STATE_HOME": "relative", "HOME": "/h"], "/h/.local/state/pipectl"),
                (["HOME": "/h"], "/h/.local/state/pipectl"),
            ])
        func isFoundInTheEnvironment(_ environment: [String: String], _ path: String) throws {
            #expect(try StateFolder(environment: environment).path == path)
        }
    #endif

    @Test func `a relative PIPECTL_HOME counts from the working directory`() throws {
        let folder = try StateFolder(environment: ["PIPECTL_HOME": "state"])
        #expect(folder.path.hasPrefix("/") && folder.path.hasSuffix("/state"))
    }

    @Test func `without a home the error says what to set`() {
        let error = #expect(throws: StateError.self) { try StateFolder(environment: [:]) }
        #expect(error?.code == .noHome)
    }

    @Test func `everything is created for its owner only`() async throws {
        try await withTemporaryFolder { scratch in
            let folder = try StateFolder(environment: ["PIPECTL_HOME": scratch + "/deep/er/state"])
            try folder.create()
            try folder.create()
            for path in [
                folder.path, folder.artifacts, folder.mirrors, folder.programs, folder.workspaces, folder.live,
            ] {
                #expect(try mode(path) == 0o700)
            }
            #expect(folder.socket == folder.path + "/daemon.sock")
            #expect(try folder.prepareSocket() == folder.socket)
        }
    }

    @Test func `an empty folder is closed to others, but not a person's home`() async throws {
        try await withTemporaryFolder { scratch in
            let folder = try StateFolder(environment: ["PIPECTL_HOME": scratch + "/state"])
            try FileManager.default.createDirectory(atPath: folder.path, withIntermediateDirectories: false)
            chmod(folder.path, 0o755)
            try folder.create()
            #expect(try mode(folder.path) == 0o700)

            let home = try StateFolder(environment: ["PIPECTL_HOME": scratch + "/home"])
            try FileManager.default.createDirectory(
                atPath: home.path + "/Documents", withIntermediateDirectories: true)
            chmod(home.path, 0o755)
            #expect(throws: StateError.self) { try home.create() }
            #expect(try mode(home.path) == 0o755)
        }
    }

    @Test(.enabled(if: geteuid() == 0, "only root can make a folder of somebody else"))
    func `another user's folder is refused`() async throws {
        try await withTemporaryFolder { scratch in
            let folder = try StateFolder(environment: ["PIPECTL_HOME": scratch + "/state"])
            try folder.create()
            chown(folder.path, 12345, 12345)
            let error = #expect(throws: StateError.self) { try folder.create() }
            #expect(error?.code == .otherOwner)
        }
    }

    @Test func `a file at the folder's path is named`() async throws {
        try await withTemporaryFolder { scratch in
            try "x".write(toFile: scratch + "/state", atomically: false, encoding: .utf8)
            let folder = try StateFolder(environment: ["PIPECTL_HOME": scratch + "/state"])
            let error = #expect(throws: StateError.self) { try folder.create() }
            #expect(error?.code == .unusable)
        }
    }

    @Test(.timeLimit(.minutes(1)), arguments: [true, false])
    func `a long path gets a short socket that both sides find`(_ hasRuntimeFolder: Bool) async throws {
        try await withTemporaryFolder { scratch in
            let home = scratch + "/" + String(repeating: "long/", count: 30) + "state"
            var environment = ["PIPECTL_HOME": home]
            if hasRuntimeFolder { environment["XDG_RUNTIME_DIR"] = scratch }
            let daemon = try StateFolder(environment: environment)
            try daemon.create()
            let path = try daemon.prepareSocket()
            defer { try? FileManager.default.removeItem(atPath: (path as NSString).deletingLastPathComponent) }
            #expect(path.utf8.count <= UnixAddress.maximumLength)
            #expect(path.hasPrefix(hasRuntimeFolder ? scratch : "/tmp/pipectl-\(geteuid())-"))
            #expect(try mode((path as NSString).deletingLastPathComponent) == 0o700)
            // A command in a shell that has another runtime folder than the daemon.
            let command = try StateFolder(environment: ["PIPECTL_HOME": home, "XDG_RUNTIME_DIR": "/run/user/none"])
            #expect(command.socket == path)

            let listening = Happening()
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    let server = DaemonServer<String, String>(path: path) { try await $1.send($0) }
                    try await server.run { listening.happens() }
                }
                try await listening.wait()
                let client = try await DaemonClient<String, String>.connect(path: command.socket)
                #expect(try await client.ask("hello") == "hello")
                group.cancelAll()
                try await group.waitForAll()
            }
        }
    }

    @Test(.enabled(if: geteuid() == 0, "only root can make a folder of somebody else"))
    func `another user's short folder is not used`() async throws {
        try await withTemporaryFolder { scratch in
            let home = scratch + "/" + String(repeating: "long/", count: 30) + "state"
            let folder = try StateFolder(environment: ["PIPECTL_HOME": home, "XDG_RUNTIME_DIR": scratch])
            try folder.create()
            let short = (try folder.prepareSocket() as NSString).deletingLastPathComponent
            chown(short, 12345, 12345)
            let error = #expect(throws: StateError.self) { try folder.prepareSocket() }
            #expect(error?.code == .otherOwner)
        }
    }
}
