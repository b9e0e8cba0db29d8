import Engine
import MachineProtocol
import Pipeline
import TestBasics

@testable import TestShards

extension FuzzTarget {
    static let machines: [FuzzTarget] = [
        .pure("frames", corpus: { MachineCorpus.frames }) { bytes, random in
            func read(_ size: Int) -> (frames: [Frame], problem: FrameProblem?) {
                var (parser, found, rest) = (FrameParser(), [Frame](), bytes[...])
                while !rest.isEmpty {
                    parser.feed(rest.prefix(size))
                    rest = rest.dropFirst(size)
                    do throws(FrameProblem) { while let frame = try parser.next() { found.append(frame) } } catch {
                        return (found, error)
                    }
                }
                return (found, nil)
            }
            let whole = read(max(bytes.count, 1))
            let pieces = read(1 + random.below(4_000))
            try demand(whole.frames == pieces.frames && whole.problem == pieces.problem, "pieces decide what is read")
            try demand(
                bytes.starts(with: whole.frames.flatMap(\.bytes)), "a frame is other bytes than it was read from")
            try demand(
                whole.frames.allSatisfy {
                    $0.header.count <= Frame.mostHeader && $0.content.count <= Frame.mostContent
                },
                "a frame that is too large was read")
            for frame in whole.frames where frame.kind == .packedData {
                guard let content = try? PackedContent.unpack(frame.content) else { continue }
                try demand(content.count <= Frame.mostContent, "a frame was unpacked to more than a frame has")
            }
        },
        .pure("machine-request", isJSON: true, limit: 256 << 10, corpus: MachineCorpus.requests) { bytes, _ in
            guard let request = try? Wire.value(MachineRequest.self, from: bytes) else { return }
            guard let again = try? Wire.bytes(request) else { throw FuzzViolation("a request can't be sent again") }
            let _: MachineRequest = try Wire.value(from: again)
            if case .run(let order) = request, let attempt = try? order.attempt() {
                try demand(!attempt.label.utf8.contains(UInt8(ascii: "/")), "a label that names another folder")
            }
        },
        .pure("pieces", limit: 2 << 20, corpus: { [PieceList([PieceList.Piece([1, 2])]).bytes] }) { bytes, random in
            func pieces(_ size: Int) -> [[UInt8]] {
                var (cutter, found, rest) = (PieceCutter(), [[UInt8]](), bytes[...])
                while !rest.isEmpty {
                    rest.prefix(size).withUnsafeBytes { cutter.cut($0) { found.append($0) } }
                    rest = rest.dropFirst(size)
                }
                cutter.finish { found.append($0) }
                return found
            }
            let whole = pieces(max(bytes.count, 1))
            try demand(whole.flatMap { $0 } == bytes, "pieces are not the bytes that were cut")
            try demand(whole == pieces(1 + random.below(100_000)), "how the bytes come decides where they are cut")
            try demand(PieceList(bytes).map { $0.bytes == bytes } ?? true, "a list of pieces is another one")
        },
        .pure("test-list", corpus: { [Array("b\r\n\n a \na::b[1]\n".utf8)] }) { bytes, random in
            guard let list = try? TestList(bytes).tests else { return }
            try demand(!list.isEmpty && Set(list).count == list.count, "a test is listed twice")
            let known = list.prefix(50).map { KnownTest(suite: "s", name: $0, seconds: Double(random.below(100))) }
            let parts = ListedTests.parts(of: list, among: 1 + random.below(9), knowing: known)
            try demand(parts.flatMap { $0 }.sorted() == list.sorted(), "a test is in no part, or in two")
        },
    ]
}

private enum MachineCorpus {
    static var frames: [[UInt8]] {
        [
            Frame(.hello, header: Array("{}".utf8)).bytes + Frame(.pulse).bytes,
            Frame(.request, exchange: 1, header: Array(#"{"mirror":{"_0":"a"}}"#.utf8)).bytes
                + Frame(.data, exchange: 1, content: Array(repeating: 7, count: 300)).bytes
                + Frame(.endOfData, exchange: 1).bytes,
            Frame(.packedData, exchange: 1, content: PackedContent.pack(Array(repeating: 7, count: 3_000)) ?? []).bytes,
        ]
    }

    @Sendable static func requests() throws -> [[UInt8]] {
        let step = PlannedStep(name: "s", action: .shell("true"))
        let requests: [MachineRequest] = [
            .mirror("a"), .pack(repository: "a", commit: String(repeating: "a", count: 40)), .value(name: "v"),
            .open(Plan(workflow: "w", steps: [step])), .hasOutputs(sha256: String(repeating: "b", count: 64)),
            .read(.published(label: "001-1"), step: step, path: "a/b", atMost: 10),
            .run(
                AttemptOrder(
                    StepAttempt(step: step, number: 1, label: "001-1", environment: ["A": "b"], grace: .seconds(1)))),
            .search(.workspace, step: step, SearchOrder([], FileLimits(), findsLinks: true)),
        ]
        return try requests.map { try Wire.bytes($0) }
    }
}
