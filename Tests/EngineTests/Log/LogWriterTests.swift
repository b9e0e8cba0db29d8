import Foundation
import SystemPackage
import TestBasics
import TestSupport
import Testing

@testable import Results
@testable import Engine
@testable import StepLogs

@Suite(.runFolder) struct LogWriterTests {
    private let folder = RunFolder.current.path("logs")

    private func file(_ name: String) -> [UInt8] {
        [UInt8](FileManager.default.contents(atPath: folder + "/" + name) ?? Data())
    }

    private func writer(_ limits: LogLimits) -> LogWriter {
        LogWriter(folder: FilePath(folder), name: "001-1.log", limits: limits)
    }

    /// The expected file, computed from all bytes at once.
    private func expected(_ bytes: [UInt8], _ limits: LogLimits) -> (file: [UInt8], dropped: Int) {
        let dropped = max(bytes.count - limits.head - limits.tail, 0)
        guard dropped > 0 else { return (bytes, 0) }
        let note =
            "\n[pipectl: \(Figures.grouped(dropped)) bytes dropped here; the first \(Figures.grouped(limits.head)) and the last \(Figures.grouped(limits.tail)) are kept]\n"
        return (bytes.prefix(limits.head) + Array(note.utf8) + bytes.suffix(limits.tail), dropped)
    }

    @Test(.timeLimit(.minutes(1)), arguments: 0..<300)
    func `the file is the same however the output is split`(seed: Int) throws {
        var generator = SplitMix64(seed: seed)
        let limits = LogLimits(
            head: Int.random(in: 0...200, using: &generator), tail: Int.random(in: 0...200, using: &generator))
        let bytes = (0..<Int.random(in: 0...1_500, using: &generator)).map { _ in
            // Newlines, NUL and bytes that are not UTF-8 among them.
            [10, 0, 0xff, 0xc3, 65, 66].randomElement(using: &generator) ?? UInt8(0)
        }
        var writer = writer(limits)
        var position = 0
        var time = 0
        var arrival: [Int] = []
        while position < bytes.count {
            let size = min(Int.random(in: 1...250, using: &generator), bytes.count - position)
            time += Int.random(in: 0...3, using: &generator)
            bytes[position..<(position + size)].withUnsafeBytes { writer.append($0, at: time) }
            arrival += Array(repeating: time, count: size)
            position += size
        }
        let record = writer.finish()
        let wanted = expected(bytes, limits)
        #expect(writer.problem == nil)
        if bytes.isEmpty {
            #expect(record == nil)
        } else {
            #expect(record == LogRecord(file: "001-1.log", bytes: bytes.count, droppedBytes: wanted.dropped))
            let isEqual = file("001-1.log") == wanted.file
            #expect(isEqual, "seed \(seed), \(limits)")
        }
        #expect(!FileManager.default.fileExists(atPath: folder + "/001-1.log.tail"))

        // Every kept byte has the time of its arrival.
        let times = LogTimes(file("001-1.log.times"))
        var last = 0
        for offset in wanted.file.indices {
            let isHead = offset < limits.head || wanted.dropped == 0
            if !isHead && offset < wanted.file.count - limits.tail { continue }  // pipectl's own note
            let original = isHead ? offset : bytes.count - (wanted.file.count - offset)
            let found = times.milliseconds(at: offset) ?? -1
            guard found == arrival[original], found >= last else {
                Issue.record("seed \(seed), \(limits), offset \(offset): \(found), not \(arrival[original])")
                return
            }
            last = found
        }
    }

    @Test(.timeLimit(.minutes(1))) func `an endless line takes little memory`() throws {
        var writer = writer(LogLimits(head: 1 << 20, tail: 1 << 20))
        let piece = [UInt8](repeating: 0x61, count: 1 << 18)
        let before = residentKiB()
        for number in 0..<2_048 { piece.withUnsafeBytes { writer.append($0, at: number) } }
        #expect(residentKiB() - before < 32 << 10)
        let record = writer.finish()
        #expect(record?.bytes == 2_048 << 18)
        #expect(record?.droppedBytes == (2_048 << 18) - (2 << 20))
        #expect(file("001-1.log").count < 3 << 20)
    }

    @Test(.timeLimit(.minutes(1))) func `time marks of a long tail stay few and in order`() throws {
        var writer = writer(LogLimits(head: 10, tail: 1 << 20))
        for number in 0..<300_000 { writer.append("\(number % 10)", at: number) }
        _ = writer.finish()
        let times = LogTimes(file("001-1.log.times"))
        let late = try #require(times.milliseconds(at: 299_000))
        // By then coarser than a millisecond, but never by much and never late.
        #expect(late <= 299_000 && late > 298_000)
        #expect(file("001-1.log.times").count < 1 << 18)
    }

    @Test func `written bytes can be read at once`() {
        var writer = writer(LogLimits())
        writer.append("first\n", at: 0)
        #expect(file("001-1.log") == Array("first\n".utf8))
    }

    @Test func `no output makes no file`() {
        var writer = writer(LogLimits())
        #expect(writer.finish() == nil)
        #expect(!FileManager.default.fileExists(atPath: folder + "/001-1.log"))
    }

    @Test func `a missing folder is a problem and not a crash`() {
        var writer = LogWriter(folder: FilePath(folder + "/gone"), name: "x.log", limits: LogLimits())
        writer.append("text", at: 0)
        #expect(writer.finish() == LogRecord(file: "x.log", bytes: 4, droppedBytes: 4))
        #expect(writer.problem == .noSuchFileOrDirectory)
    }

    /// `/dev/full` can be opened and takes nothing, like a full disk.
    @Test func `a disk that takes nothing counts everything as dropped`() throws {
        try FileManager.default.createSymbolicLink(
            atPath: folder + "/001-1.log.tail", withDestinationPath: "/dev/full")
        var writer = writer(LogLimits(head: 4, tail: 4))
        writer.append("0123456789", at: 0)
        // A link is at the path of the tail's file; it is not followed.
        #expect(writer.finish() == LogRecord(file: "001-1.log", bytes: 10, droppedBytes: 6))
        #expect(writer.problem == .tooManySymbolicLinkLevels)
        #expect(file("001-1.log") == Array("0123".utf8))
    }
}

/// Resident memory of this process, in KiB.
func residentKiB() -> Int {
    let text = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
    let line = text.split(separator: "\n").first { $0.hasPrefix("VmRSS") } ?? ""
    return Int(line.filter(\.isNumber)) ?? 0
}
