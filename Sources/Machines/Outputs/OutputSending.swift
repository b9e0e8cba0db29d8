import Engine
import MachineProtocol
package import Results

/// Brings stored outputs to a machine: nothing of what it keeps is sent again.
package struct OutputSending: Sendable {
    let outputs: StoredOutputs
    let machine: MachineClient

    package init(outputs: StoredOutputs, machine: MachineClient) {
        (self.outputs, self.machine) = (outputs, machine)
    }

    /// Makes sure that the machine keeps the outputs. It blocks.
    ///
    /// Of outputs that the machine does not keep, it is told the pieces first and says which it lacks: those of other
    /// outputs that it keeps are copied there.
    ///
    /// - Throws: ``MachineProblem``, `PlaceProblem`, `Errno`.
    package func send() throws {
        let known = try machine.ask(.hasOutputs(sha256: outputs.sha256), HasOutputs.self)
        if known.isThere { return }
        guard known.hasOthers else { return try sendWhole() }
        do { try sendMissing() } catch is MachineProblem {
            // What the machine keeps may be damaged.
            try sendWhole()
        }
    }

    private func sendWhole() throws {
        try machine.ask(
            .outputs(sha256: outputs.sha256, isWhole: true), Done.self,
            send: { exchange in
                let bytes = try FileSending.send(outputs.path) { try exchange.send($0) }
                machine.count(outputs: bytes)
            })
    }

    private func sendMissing() throws {
        let list = try pieces()
        let lines = list.bytes
        var answer: [UInt8] = []
        try machine.ask(
            .pieces(sha256: outputs.sha256), Done.self,
            data: { bytes in
                answer += bytes
                guard answer.count <= list.pieces.count / 8 + 1 else { throw Self.wrongAnswer(machine) }
            },
            send: { exchange in
                try exchange.send(lines)
                machine.count(outputs: lines.count)
            })
        guard let wanted = WantedPieces(answer, count: list.pieces.count) else { throw Self.wrongAnswer(machine) }
        try machine.ask(
            .outputs(sha256: outputs.sha256, isWhole: false), Done.self,
            send: { try sendPieces(list, wanted, over: $0) })
    }

    private static func wrongAnswer(_ machine: MachineClient) -> PlaceProblem {
        PlaceProblem(reason: "\(machine.machine) asked for pieces that nobody has", mayHaveActed: false)
    }

    private func pieces() throws -> PieceList {
        var (list, cutter) = (PieceList(), PieceCutter())
        _ = try FileSending.send(outputs.path) { cutter.cut($0) { list.pieces.append(PieceList.Piece($0)) } }
        cutter.finish { list.pieces.append(PieceList.Piece($0)) }
        return list
    }

    private func sendPieces(_ list: PieceList, _ wanted: WantedPieces, over exchange: Exchange) throws {
        var (number, bytes, cutter) = (0, 0, PieceCutter())
        func pass(_ piece: [UInt8]) throws {
            defer { number += 1 }
            // A file that changes under our hands is noticed by the machine, which knows the digests.
            guard number < list.pieces.count, wanted[number] else { return }
            try exchange.send(piece)
            bytes += piece.count
        }
        _ = try FileSending.send(outputs.path) { try cutter.cut($0, pass) }
        try cutter.finish(pass)
        machine.count(outputs: bytes)
    }
}
