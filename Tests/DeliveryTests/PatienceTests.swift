import Synchronization
import TestBasics
import Testing

@testable import Delivery

struct PatienceTests {
    /// Makes attempts, each of which takes so many seconds, and fails but for the last one.
    ///
    /// - Returns: How many were made; nil if they were given up.
    private func attempts(taking times: [Int]) async throws -> Int? {
        let start = ContinuousClock.now
        let passed = Mutex(0)
        let made = Count()
        var patience = Patience(first: .milliseconds(1))
        patience.now = { passed.withLock { start + .seconds($0) } }
        do {
            return try await patience.run(say: { _ in }) {
                made.add()
                let number = made.value
                passed.withLock { $0 += times[number - 1] }
                guard number == times.count else { throw DeliveryProblem(.unreachable, "no answer") }
                return number
            }
        } catch let problem as DeliveryProblem {
            #expect(problem.code == .unreachable)
            return nil
        }
    }

    @Test(.timeLimit(.minutes(1)))
    func `the half hour counts from the first failure in a row`() async throws {
        #expect(try await attempts(taking: [31 * 60, 1]) == 2)
        #expect(try await attempts(taking: [25 * 60, 10 * 60, 10 * 60, 1]) == 4)
        #expect(try await attempts(taking: [31 * 60, 60, 40 * 60, 60, 1]) == 5)
        #expect(try await attempts(taking: [31 * 60, 10 * 60, 19 * 60, 1]) == 4)
        #expect(try await attempts(taking: [31 * 60, 10 * 60, 21 * 60, 1]) == nil)
    }
}
