import Foundation
import Testing
@testable import Daemon

/// What is given back must not be missed.
@Suite struct MemoryTests {
    @Test func `releasing memory keeps values in use`() {
        let kept = (0..<1_000).map { "\($0)" }
        for _ in 0..<3 { Memory.release() }
        #expect(kept.joined().count == 2_890)
        #expect((try? JSONEncoder().encode(kept))?.isEmpty == false)
    }
}
