import ArgumentParser
import TestBasics
import Control
import Delivery
import Testing

@testable import pipectl

@Suite struct ExitCodeTests {
    @Test func `a request that the daemon could not carry out for its own sake ends with 3`() {
        #expect(CommandEnd.code(for: RequestError(.init(rawValue: "damagedIndex"), "", origin: .daemon)) == 3)
        #expect(CommandEnd.code(for: RequestError(.usage, "")) == 2)
        #expect(CommandEnd.code(for: RequestError(.missingTool, "")) == 3)
    }

    @Test func `a release that can't be copied there ends with 2, one that was changed with 3`() {
        #expect(CommandEnd.code(for: DeliveryProblem(.invalid, "")) == 2)
        #expect(CommandEnd.code(for: DeliveryProblem(.conflict, "")) == 3)
    }

    @Test(arguments: ["0", "1001"]) func `a list of releases has a usable length`(limit: String) {
        #expect(throws: (any Error).self) { try Releases.parse(["--limit", limit]) }
    }
}
