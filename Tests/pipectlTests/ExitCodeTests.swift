import BuildBox
import Testing

@testable import pipectl

@Suite struct ExitCodeTests {
    @Test func `a request that the daemon could not carry out for its own sake ends with 3`() {
        #expect(CommandEnd.code(for: BoxError(.init(rawValue: "damagedIndex"), "", origin: .box)) == 3)
        #expect(CommandEnd.code(for: BoxError(.usage, "")) == 2)
        #expect(CommandEnd.code(for: BoxError(.missingTool, "")) == 3)
    }
}
