import Testing

@testable import MachineProtocol

@Suite struct FrameTests {
    private let frames = [
        Frame(.hello, header: [1, 2, 3]), Frame(.data, exchange: 7, content: Array(repeating: 9, count: 1_000)),
        Frame(.pulse), Frame(.reply, exchange: .max, header: [0], content: [1]),
    ]

    @Test(arguments: [1, 2, 13, 14, 64, 5_000]) func `frames come out as they went in, in whatever pieces`(
        size: Int
    ) throws {
        let bytes = frames.flatMap(\.bytes)
        var parser = FrameParser()
        var found: [Frame] = []
        for start in stride(from: 0, to: bytes.count, by: size) {
            parser.feed(bytes[start..<min(start + size, bytes.count)])
            while let frame = try parser.next() { found.append(frame) }
        }
        #expect(found == frames)
    }

    @Test func `a length is refused before its bytes have come`() {
        var header = FrameParser()
        header.feed([2, 0, 0, 0, 1, 0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0])
        #expect(throws: FrameProblem.self) { try header.next() }
        var content = FrameParser()
        content.feed(Frame(.data, content: Array(repeating: 0, count: Frame.mostContent + 1)).bytes.prefix(13))
        #expect(throws: FrameProblem.tooLarge(Frame.mostContent + 1)) { try content.next() }
    }

    @Test(arguments: [UInt8(0), 11, 255]) func `an unknown kind is refused`(kind: UInt8) {
        var parser = FrameParser()
        parser.feed([kind] + Array(repeating: UInt8(0), count: 12))
        #expect(throws: FrameProblem.unknownKind(kind)) { try parser.next() }
    }
}
