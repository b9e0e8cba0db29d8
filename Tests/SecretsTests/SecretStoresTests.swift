import TestBasics
import StateFiles
import TestSupport
import Foundation
@testable import Engine
@testable import Masking
import Pipeline
import Testing

@testable import Secrets

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// The stores of secrets: which secrets a run gets, in which order, and what is refused.
struct SecretStoresTests {
    private struct Room {
        let root: String
        let state: StateFolder
        var folder: String { state.secrets }
        var credentials: String { root + "/credentials" }

        var stores: SecretStores { SecretStores(state: state, environment: [:]) }
        var withSystemd: SecretStores {
            SecretStores(state: state, environment: ["CREDENTIALS_DIRECTORY": credentials])
        }

        func mode(_ path: String) throws -> Int {
            let found = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
            return try #require(found)
        }

        func put(_ text: String, _ path: String, mode: mode_t = 0o600) throws {
            let folder = (path as NSString).deletingLastPathComponent
            try FileManager.default.createDirectory(
                atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
            try Data(text.utf8).write(to: URL(fileURLWithPath: path))
            #expect(chmod(path, mode) == 0)
        }

        /// The value of TOKEN in a run of `repository`, or why it has none.
        func given(_ stores: SecretStores, _ repository: String = "repo") -> Result<String, Reason> {
            var step = PlannedStep(name: "s", action: .shell("true"))
            step.secrets = [SecretUse("TOKEN")]
            let secrets = stores.resolve(Plan(workflow: "w", steps: [step]), repository: repository)
            if let reason = secrets.obstacle(to: step) { return .failure(Reason(text: reason)) }
            return .success(String(decoding: secrets.bytes(for: step)["TOKEN"] ?? [], as: UTF8.self))
        }

        func refusal(_ stores: SecretStores) -> String {
            if case .failure(let reason) = given(stores) { reason.text } else { "it was given" }
        }
    }

    private struct Reason: Error, Equatable { var text: String }

    private func withRoom(_ body: (Room) async throws -> Void) async throws {
        try await withTemporaryFolder { root in
            try await body(Room(root: root, state: StateFolder(environment: ["PIPECTL_HOME": root + "/home"])))
        }
    }

    @Test func `a stored secret is readable by its owner only and reaches the run`() async throws {
        try await withRoom { room in
            #expect(room.refusal(room.stores) == "secret TOKEN is not set: `pipectl secrets set TOKEN`")
            try room.stores.set("TOKEN", to: Array("first value\n".utf8))
            try room.stores.set("TOKEN", to: Array("second value\n".utf8))
            #expect(room.given(room.stores) == .success("second value\n"))
            #expect(try room.mode(room.folder) == 0o700)
            #expect(try room.mode(room.folder + "/TOKEN") == 0o600)
            #expect(
                try FileManager.default.contentsOfDirectory(atPath: room.folder) == ["TOKEN"], "nothing is left over")
            let (records, problems) = room.stores.list()
            #expect(problems == [])
            #expect(records.map(\.name) == ["TOKEN"])
            #expect(records[0].source == .folder)
            #expect(abs(try #require(records[0].setAt).timeIntervalSinceNow) < 60)
            try room.stores.remove("TOKEN")
            #expect(room.refusal(room.stores).contains("is not set"))
            let error = #expect(throws: SecretError.self) { try room.stores.remove("TOKEN") }
            #expect(error?.code == .notSet)
        }
    }

    @Test func `the first store that has a secret is used`() async throws {
        try await withRoom { room in
            try room.stores.set("TOKEN", to: Array("of the folder".utf8))
            #expect(room.given(room.withSystemd) == .success("of the folder"))
            // systemd grants access with an access control list, whose mask looks like a right of the group.
            try room.put("of systemd", room.credentials + "/TOKEN", mode: 0o440)
            try room.put("{}", room.credentials + "/other.json", mode: 0o440)
            #expect(room.given(room.withSystemd) == .success("of systemd"))
            #expect(room.given(room.stores) == .success("of the folder"), "without the variable there is no systemd")
            try room.stores.set("TOKEN", to: Array("of the repository".utf8), repository: "repo")
            #expect(room.given(room.withSystemd) == .success("of the repository"))
            #expect(room.given(room.withSystemd, "other") == .success("of systemd"))
            #expect(try room.mode(room.folder + "/repositories/repo") == 0o700)

            let (records, problems) = room.withSystemd.list()
            #expect(problems == [])
            #expect(records.map(\.source) == [.folder, .systemd, .folder])
            #expect(records.map(\.repository) == ["repo", nil, nil])
            #expect(records.map(\.isHidden) == [false, false, true])

            try room.withSystemd.remove("TOKEN", repository: "repo")
            try room.withSystemd.remove("TOKEN")
            let error = #expect(throws: SecretError.self) { try room.withSystemd.remove("TOKEN") }
            #expect(error?.description.contains("systemd provides it") == true)
        }
    }

    @Test(arguments: [
        "token", "", "A B", "A\nB", "../A", "A/B", "1A", "PIPECTL_X", "PATH", "repositories",
        String(repeating: "A", count: 200),
    ])
    func aNameThatIsNoVariableIsRefused(name: String) async throws {
        try await withRoom { room in
            let error = #expect(throws: SecretError.self) { try room.stores.set(name, to: Array("a long value".utf8)) }
            #expect(error?.code == .name)
            #expect(!FileManager.default.fileExists(atPath: room.state.path))
        }
    }

    @Test(arguments: ["..", ".hidden", "a/b", "", "a\nb"])
    func `an invalid name of a repository is refused`(name: String) async throws {
        try await withRoom { room in
            let error = #expect(throws: SecretError.self) {
                try room.stores.set("TOKEN", to: Array("a long value".utf8), repository: name)
            }
            #expect(error?.code == .name)
        }
    }

    @Test func `a value that can't be masked or is too long is refused`() async throws {
        try await withRoom { room in
            for value in ["", "12345", "12345\n", "12345\r\n\n"] {
                let error = #expect(throws: SecretError.self) { try room.stores.set("TOKEN", to: Array(value.utf8)) }
                #expect(error?.code == .value)
                #expect(error?.description.contains("12345") == false)
            }
            let long = [UInt8](repeating: 7, count: SecretStores.longestValue)
            try room.stores.set("TOKEN", to: long)
            let error = #expect(throws: SecretError.self) { try room.stores.set("TOKEN", to: long + [7]) }
            #expect(error?.code == .value)
            #expect(FileManager.default.contents(atPath: room.folder + "/TOKEN") == Data(long), "the old one stays")
        }
    }

    @Test(arguments: [0o640, 0o604, 0o620, 0o666, 0o644] as [mode_t])
    func `a file that others can read or write is refused`(mode: mode_t) async throws {
        try await withRoom { room in
            try room.put("a long value", room.folder + "/TOKEN", mode: mode)
            #expect(room.refusal(room.stores).contains("Others can read or write"))
            #expect(room.refusal(room.stores).contains("chmod 600"))
            let (records, _) = room.stores.list()
            #expect(records.first?.problem?.contains("Others can read or write") == true)
            // Setting it again repairs it.
            try room.stores.set("TOKEN", to: Array("another value".utf8))
            #expect(room.given(room.stores) == .success("another value"))
        }
    }

    @Test func `a folder that others can reach is refused`() async throws {
        try await withRoom { room in
            try room.put("a long value", room.folder + "/TOKEN")
            #expect(chmod(room.folder, 0o750) == 0)
            #expect(room.refusal(room.stores).contains("Others can reach"))
            #expect(room.stores.list().problems.count == 1)
            let error = #expect(throws: SecretError.self) { try room.stores.set("TOKEN", to: Array("a value".utf8)) }
            #expect(error?.code == .unsafe)
        }
    }

    @Test(.timeLimit(.minutes(1))) func `a link or fifo in place of a file is neither followed nor waited for`()
        async throws
    {
        try await withRoom { room in
            try room.put("the target's value", room.root + "/target")
            try room.put("a long value", room.folder + "/OTHER")
            let path = room.folder + "/TOKEN"
            #expect(symlink(room.root + "/target", path) == 0)
            #expect(room.refusal(room.stores).contains("is a link"))
            #expect(unlink(path) == 0 && mkfifo(path, 0o600) == 0)
            #expect(room.refusal(room.stores).contains("not a regular file"))
            #expect(unlink(path) == 0 && mkdir(path, 0o700) == 0)
            #expect(room.refusal(room.stores).contains("not a regular file"))
            #expect(rmdir(path) == 0)
            try room.put(String(repeating: "x", count: SecretStores.longestValue + 1), path)
            #expect(room.refusal(room.stores).contains("longer than 65536 bytes"))
            #expect(room.stores.list().records.first { $0.name == "TOKEN" }?.problem?.contains("longer") == true)
            try room.put("", path)
            #expect(room.refusal(room.stores).contains("is empty"))

            let aside = room.root + "/aside"
            #expect(rename(room.folder, aside) == 0 && symlink(aside, room.folder) == 0)
            #expect(room.refusal(room.stores).contains("is a link or not a folder"))
        }
    }

    @Test func `other files in the folder are reported and harmless`() async throws {
        try await withRoom { room in
            try room.put("a long value", room.folder + "/TOKEN")
            try room.put("x", room.folder + "/new\nline\u{1b}[31m")
            try room.put("x", room.folder + "/.TOKEN.1")
            try room.put("x", room.folder + "/token.bak")
            let (records, problems) = room.stores.list()
            #expect(records.map(\.name) == ["TOKEN"])
            #expect(problems.count == 2)
            for problem in problems { #expect(!problem.unicodeScalars.contains { $0.value < 0x20 }, "\(problem)") }
        }
    }

    @Test func `another user's file is refused`() async throws {
        guard geteuid() == 0 else { return }
        try await withRoom { room in
            try room.put("a long value", room.folder + "/TOKEN")
            #expect(chown(room.folder + "/TOKEN", 65_534, 65_534) == 0)
            #expect(room.refusal(room.stores).contains("belongs to user 65534"))
        }
    }

    @Test func `a run gets exactly the secrets that its plan names`() async throws {
        try await withRoom { room in
            try room.stores.set("TOKEN", to: Array("named value".utf8))
            try room.stores.set("OTHER", to: Array("another value".utf8))
            var step = PlannedStep(name: "s", action: .shell("true"))
            step.secrets = [SecretUse("TOKEN")]
            let secrets = room.stores.resolve(Plan(workflow: "w", steps: [step]), repository: "repo")
            #expect(secrets.masker?.masked("named value, another value") == "[secret TOKEN], another value")
        }
    }
}
