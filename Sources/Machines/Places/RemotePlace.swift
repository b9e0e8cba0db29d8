import Concurrency
package import Engine
import Foundation
import MachineProtocol
package import Pipeline

/// Another machine as a place for the steps of one run, whose workspace its agent has made.
package struct RemotePlace: RunPlace {
    let machine: MachineClient

    package init(machine: MachineClient) { self.machine = machine }

    package func open<Value: Sendable>(
        for plan: Plan, _ body: @escaping @Sendable (any OpenPlace) async -> Value
    ) async throws -> (value: Value, isAllEnded: Bool) {
        let machine = machine
        let (exchange, opened) = try await onOwnThread {
            let exchange = try machine.begin(.open(plan), limit: machine.patience.usual)
            do {
                return (exchange, try RemotePlace.waitUntilOpen(exchange, machine))
            } catch {
                exchange.finish()
                throw (error as? MachineProblem)?.error ?? (error as? PlaceProblem)
                    ?? machine.lost(error, mayHaveActed: false)
            }
        }
        let value = await body(OpenRemotePlace(machine: machine, opened: opened))
        let isAllEnded = try? await onOwnThread {
            defer { exchange.finish() }
            try exchange.note(Done())
            while true {
                switch try exchange.next() {
                // A lasting agent says again that the place was opened.
                case .note: continue
                case .reply(let bytes): return try machine.value(ClosedPlace.self, bytes).isAllEnded
                case .data, .endOfData: throw machine.unreadable
                }
            }
        }
        return (value, isAllEnded ?? false)
    }

    private static func waitUntilOpen(_ exchange: Exchange, _ machine: MachineClient) throws -> OpenedPlace {
        while true {
            switch try exchange.next() {
            case .note(let bytes):
                guard let opened = try? Wire.value(OpenedPlace.self, from: bytes) else { throw machine.unreadable }
                return opened
            case .reply(let bytes):
                _ = try machine.value(ClosedPlace.self, bytes)
                throw PlaceProblem(reason: "\(machine.machine) opened no place", mayHaveActed: false)
            case .data, .endOfData: throw machine.unreadable
            }
        }
    }
}
