import TestBasics
import ArgumentParser
import Settings
import Testing

@testable import pipectl

@Suite struct IdleFlagsTests {
    private func given(_ arguments: String...) throws -> [GivenFlag] { try DaemonOptionGroup.parse(arguments).given }

    private func record(_ key: String, _ value: SettingValue?) -> SettingRecord {
        SettingRecord(key: key, value: value, standard: "", source: SettingSource(kind: .file))
    }

    @Test func `flags that say something else than the daemon are named`() throws {
        let daemon = [
            record("slots", .whole(4)), record("sandbox.shared", .list(["/tmp", "/var"])),
            record("sandbox.allowUnsandboxed", .flag(true)), record("grace", .text("10s")),
            record("limits.step.memory", nil), record("resources", .counts(["gpu": 1])),
        ]
        #expect(IdleFlags.missing([], of: daemon).isEmpty)
        #expect(
            IdleFlags.missing(
                try given("--slots", "4", "--shared", "/var", "--grace", "10", "--resource", "gpu=1"), of: daemon
            ).isEmpty)
        #expect(IdleFlags.missing(try given("--allow-unsandboxed"), of: daemon).isEmpty)
        #expect(
            IdleFlags.missing(
                try given("--slots", "2", "--grace", "11s", "--readable", "/tmp", "--limit", "memory=1GiB"), of: daemon)
                == ["--slots 2", "--grace 11s", "--readable /tmp", "--limit memory=1GiB"])
        #expect(IdleFlags.missing(try given("--allow-unsandboxed"), of: []) == ["--allow-unsandboxed"])
    }

    @Test(arguments: [
        ["--slots", "0"], ["--slots", "1025"], ["--slots", "four"], ["--grace", "2h"], ["--grace", "10x"],
        ["--grace", "-1"], ["--minimum-free", "9223372036854775807"], ["--log-limit", "0"], ["--resource", "gpu"],
        ["--resource", "gpu=0"], ["--limit", "memory"], ["--limit", "memroy=1GiB"], ["--limit", "memory=1GB"],
        ["--tree-limit", "entries=0"], ["--tree-limit", "memory=1GiB"], ["--readable", "relative"],
        ["--readable", "/"], ["--readable", "/nonexistent-folder"], ["--protected", ""],
    ])
    func `a wrong flag is refused when it is read`(arguments: [String]) {
        #expect(throws: (any Error).self) { try DaemonOptionGroup.parse(arguments) }
    }
}
