import Logging
import StateFiles
import Store
import Synchronization
import Testing
@testable import Running

/// What keeps runs from starting on this machine.
@Suite struct HealthTests {
    private struct Broken: Error {}

    private func health(_ body: (Health, _ fill: (Int) -> Void, _ wakes: () -> Int) throws -> Void) rethrows {
        let free = Counter(100)
        let wakes = Counter(0)
        let health = Health(
            folder: "/none", wantedBytes: 50, reserve: ReservedDiskSpace(path: "/none/reserve"),
            log: Logger(label: "test"), freeBytes: { free.value }, onRoom: { wakes.value += 1 })
        try body(health, { free.value = $0 }, { wakes.value })
    }

    @Test func `no run starts on a full disk, and the scheduler is woken when there is room again`() {
        health { health, fill, wakes in
            #expect(health.hasSpace() && health.obstacle == nil && health.spareBytes == 50)
            fill(49)
            #expect(!health.hasSpace() && health.obstacle != nil && health.spareBytes == -1)
            #expect(wakes() == 0)
            fill(50)
            #expect(health.hasSpace() && health.hasSpace() && health.obstacle == nil)
            #expect(wakes() == 1, "once, however often it is asked")
        }
    }

    @Test func `a trouble is an obstacle until it is over`() {
        health { health, _, _ in
            health.noteTrouble("b", Broken())
            health.noteTrouble("a", Broken())
            #expect(health.hasTroubles && health.obstacle?.hasPrefix("a: ") == true)
            health.clearTrouble("a")
            #expect(health.obstacle?.hasPrefix("b: ") == true)
            health.clearTrouble("b")
            #expect(!health.hasTroubles && health.obstacle == nil)
        }
    }

    /// A number that several may change.
    private final class Counter: Sendable {
        private let state: Mutex<Int>
        init(_ value: Int) { state = Mutex(value) }
        var value: Int {
            get { state.withLock { $0 } }
            set { state.withLock { $0 = newValue } }
        }
    }
}
