import Synchronization
import Testing

@testable import Store

@Suite(.timeLimit(.minutes(1))) struct SerialGateTests {
    /// Counts callers from several tasks.
    private final class Counter: Sendable {
        private let value = Mutex(0)
        var current: Int { value.withLock { $0 } }

        func add(_ number: Int) -> Int {
            value.withLock { value in
                value += number
                return value
            }
        }
    }

    @Test func `one caller at a time is in, and all come through`() async {
        let (gate, inside, through) = (SerialGate(), Counter(), Counter())
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<100 {
                group.addTask {
                    await gate.pass {
                        let number = inside.add(1)
                        #expect(number == 1)
                        await Task.yield()
                        _ = inside.add(-1)
                    }
                    _ = through.add(1)
                }
            }
        }
        #expect(through.current == 100)
    }

    @Test func `an error lets the next one in`() async throws {
        struct Failure: Error {}
        let gate = SerialGate()
        await #expect(throws: Failure.self) { try await gate.pass { throw Failure() } }
        #expect(await gate.pass { 1 } == 1)
    }
}
