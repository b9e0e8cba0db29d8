import Concurrency
import TestBasics
import Testing

/// Several callers that want the same value at the same time.
///
/// On the main actor, whose jobs of one priority run in their order: what was started before a job has come to its first
/// wait when the job runs.
@MainActor @Suite(.timeLimit(.minutes(1))) struct SingleFlightTests {
    private struct Broken: Error {}

    /// Returns once all tasks of the main actor that were started before have come to a wait.
    private func allWait() async { for _ in 0..<10 { await Task {}.value } }

    @Test func `one makes the value, and the others wait for it`() async throws {
        let flight = SingleFlight<Int>()
        let (made, go) = (Count(), Happening())
        let tasks = (0..<5).map { _ in
            Task {
                try await flight.value(for: "key") {
                    made.add()
                    try await go.wait()
                    return 7
                }
            }
        }
        await allWait()
        #expect(made.value == 1)
        go.happens()
        for task in tasks { #expect(try await task.value == 7) }
        #expect(made.value == 1)
    }

    @Test func `another key waits for nobody, and nothing is remembered`() async throws {
        let flight = SingleFlight<Int>()
        let go = Happening()
        let slow = Task {
            try await flight.value(for: "slow") {
                try await go.wait()
                return 1
            }
        }
        await allWait()
        #expect(try await flight.value(for: "quick") { 2 } == 2)
        #expect(try await flight.value(for: "quick") { 3 } == 3)
        go.happens()
        #expect(try await slow.value == 1)
    }

    @Test func `a failure is everybody's`() async throws {
        let flight = SingleFlight<Int>()
        let go = Happening()
        let tasks = (0..<3).map { _ in
            Task {
                try await flight.value(for: "key") {
                    try await go.wait()
                    throw Broken()
                }
            }
        }
        await allWait()
        go.happens()
        for task in tasks { await #expect(throws: Broken.self) { try await task.value } }
    }

    @Test func `when the one who makes it is cancelled, the next one takes over`() async throws {
        let flight = SingleFlight<Int>()
        let never = Happening()
        let leader = Task {
            try await flight.value(for: "key") {
                await withTaskCancellationHandler {
                    try? await never.wait()
                } onCancel: {
                    never.happens()
                }
                try Task.checkCancellation()
                return 1
            }
        }
        await allWait()
        let followers = (2...3).map { number in Task { try await flight.value(for: "key") { number } } }
        await allWait()
        leader.cancel()
        await #expect(throws: CancellationError.self) { try await leader.value }
        let values = [try await followers[0].value, try await followers[1].value]
        #expect(values == [2, 2], "the first that waited makes it for all")
    }

    @Test func `a waiter that is cancelled leaves at once, and nobody else does`() async throws {
        let flight = SingleFlight<Int>()
        let go = Happening()
        let leader = Task {
            try await flight.value(for: "key") {
                try await go.wait()
                return 1
            }
        }
        await allWait()
        let (gone, patient) = (
            Task { try await flight.value(for: "key") { 2 } }, Task { try await flight.value(for: "key") { 3 } }
        )
        await allWait()
        gone.cancel()
        await #expect(throws: CancellationError.self) { try await gone.value }
        go.happens()
        #expect(try await leader.value == 1)
        #expect(try await patient.value == 1)
    }
}
