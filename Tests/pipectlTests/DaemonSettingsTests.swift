import ArgumentParser
import Testing

@testable import pipectl

@Suite struct DaemonSettingsTests {
    @Test func `options that the daemon was not started with are named`() {
        let daemon = ["slots": ["4"], "shared": ["/a", "/b"], "allow-unsandboxed": [""]]
        #expect(DaemonSettings.missing([:], of: daemon).isEmpty)
        #expect(DaemonSettings.missing(["slots": ["4"], "shared": ["/b"]], of: daemon).isEmpty)
        #expect(DaemonSettings.missing(["slots": ["2"]], of: daemon) == ["--slots 2"])
        #expect(DaemonSettings.missing(["readable": ["/x", "/y"]], of: daemon) == ["--readable /x", "--readable /y"])
        #expect(DaemonSettings.missing(["allow-unsandboxed": [""]], of: [:]) == ["--allow-unsandboxed"])
    }

    @Test func `an option with its default value counts as not given`() throws {
        let none = try BoxOptionGroup.parse([])
        #expect(none.given.isEmpty)
        let some = try BoxOptionGroup.parse(["--grace", "3", "--limit", "memory=1", "--protected", "release/*"])
        #expect(some.given == ["grace": ["3"], "limit": ["memory=1"], "protected": ["release/*"]])
    }
}
