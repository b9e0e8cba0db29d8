import TestBasics
import Control
import Testing

@testable import pipectl

@Suite struct ExitCodeTests {
    @Test func `a request that the daemon could not carry out for its own sake ends with 3`() {
        #expect(CommandEnd.code(for: RequestError(.init(rawValue: "damagedIndex"), "", origin: .daemon)) == 3)
        #expect(CommandEnd.code(for: RequestError(.usage, "")) == 2)
        #expect(CommandEnd.code(for: RequestError(.missingTool, "")) == 3)
    }
}
