import CZstd
import Testing

@testable import MachineProtocol

@Suite struct PackedContentTests {
    private let text = Array(String(repeating: "Compiling Engine StepRunner.swift\n", count: 7_000).utf8)

    @Test func `text is compressed and comes out as it was`() throws {
        let packed = try #require(PackedContent.pack(text))
        #expect(packed.count < text.count / 20)
        #expect(try PackedContent.unpack(packed) == text)
    }

    @Test func `the largest content of a frame comes out as it was`() throws {
        let bytes = (0..<Frame.mostContent).map { UInt8(truncatingIfNeeded: $0 / 100) }
        #expect(try PackedContent.unpack(try #require(PackedContent.pack(bytes))) == bytes)
    }

    @Test func `what does not get shorter is sent as it is`() {
        var random = SystemRandomNumberGenerator()
        let noise = (0..<50_000).map { _ in UInt8.random(in: .min ... .max, using: &random) }
        #expect(Frame.data(noise, exchange: 1) == Frame(.data, exchange: 1, content: noise))
        let few = Array(text.prefix(PackedContent.least - 1))
        #expect(Frame.data(few, exchange: 1) == Frame(.data, exchange: 1, content: few))
        #expect(Frame.data(text, exchange: 1).kind == .packedData)
    }

    @Test func `a content that would be more than a frame has is refused`() {
        let many = [UInt8](repeating: 0, count: 64 << 20)
        var bomb = [UInt8](repeating: 0, count: 1 << 20)
        let count = ZSTD_compress(&bomb, bomb.count, many, many.count, 1)
        #expect(count < Frame.mostContent)
        #expect(throws: FrameProblem.self) { try PackedContent.unpack(Array(bomb.prefix(count))) }
    }

    @Test(arguments: [0, 1, 10, 40]) func `bytes that are damaged or cut are refused`(count: Int) throws {
        let packed = try #require(PackedContent.pack(text))
        #expect(throws: FrameProblem.self) { try PackedContent.unpack(Array(packed.prefix(count))) }
        #expect(throws: FrameProblem.self) { try PackedContent.unpack([1, 2, 3] + packed.dropFirst(3)) }
    }
}
