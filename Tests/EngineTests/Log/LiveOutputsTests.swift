import Synchronization
import SystemPackage
import TestBasics
import Testing

@testable import Engine
@testable import StepLogs

@Suite struct LiveOutputsTests {
    /// The byte of the output at an offset.
    private static func byte(_ offset: Int) -> UInt8 { UInt8(truncatingIfNeeded: offset &* 31 &+ offset >> 8) }

    private static func bytes(_ range: Range<Int>) -> [UInt8] { range.map(byte) }

    private static func log(_ folder: TemporaryFolder) -> AttemptLog {
        AttemptLog(folder: FilePath(folder.path), name: "001-1.log", limits: LogLimits(head: 1_000, tail: 500))
    }

    private static func write(_ range: Range<Int>, to log: AttemptLog) {
        bytes(range).withUnsafeBytes { log.append($0) }
    }

    /// Everything that can be read from an offset on, and where it begins.
    private static func rest(_ output: LiveOutput, from offset: Int) throws -> (start: Int, bytes: [UInt8]) {
        var (start, all) = try output.read(from: offset, atMost: 90)
        while true {
            let (next, more) = try output.read(from: start + all.count, atMost: 90)
            if more.isEmpty { return (start, all) }
            if next != start + all.count { (start, all) = (next, []) }
            all += more
        }
    }

    @Test(arguments: [1, 999, 1_000, 1_001, 1_499, 1_500, 1_501, 2_700, 9_999])
    func `what is written can be read, while it is written and after its end`(size: Int) throws {
        let folder = try TemporaryFolder()
        let outputs = LiveOutputs()
        let log = Self.log(folder)
        outputs.begin(log)
        for start in stride(from: 0, to: size, by: 130) {
            Self.write(start..<min(start + 130, size), to: log)
            let output = try #require(outputs.output(at: log.path.string))
            let end = min(start + 130, size)
            let (first, found) = try Self.rest(output, from: 0)
            #expect(first == (end <= 1_500 ? 0 : end - 500))
            #expect(found == Self.bytes(first..<end))
        }
        let output = try #require(outputs.output(at: log.path.string))
        _ = log.finish()
        outputs.end(log)
        #expect(outputs.output(at: log.path.string) == nil)
        #expect(output.extent.bytes == size && output.extent.isOver)
        for offset in [0, 500, 999, 1_000, size - 1] where offset < size {
            let (first, found) = try Self.rest(output, from: offset)
            #expect(found == Self.bytes(first..<size))
            #expect(first >= offset)
        }
    }

    @Test(.timeLimit(.minutes(1))) func `who waits wakes up by output, by the end, and when cancelled`() async throws {
        let folder = try TemporaryFolder()
        let outputs = LiveOutputs()
        let log = Self.log(folder)
        outputs.begin(log)
        let output = try #require(outputs.output(at: log.path.string))
        async let first: Void = output.wait(beyond: 0)
        Self.write(0..<10, to: log)
        await first
        await output.wait(beyond: 9)
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await output.wait(beyond: 10) }
            group.cancelAll()
        }
        async let last: Void = output.wait(beyond: 10)
        _ = log.finish()
        await last
        #expect(output.extent.isOver)
    }
}
