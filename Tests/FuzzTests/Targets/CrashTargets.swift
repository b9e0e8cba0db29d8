import CrashReports
import Foundation
import TestSupport

extension FuzzTarget {
    /// Crash reports, which anyone may send, and the headers of files with symbols.
    static let crashes: [FuzzTarget] = [
        .pure("crash", words: crashWords, isJSON: true, corpus: { try Corpus.crashes() }) { bytes, _ in
            let report: CrashReport
            do throws(CrashReportError) { report = try CrashReport.read(bytes) } catch {
                try demand(error.description.utf8.count < 300, "a reason of \(error.description.utf8.count) bytes")
                return
            }
            try demand(!report.frames.isEmpty, "a report without calls was read")
            try demand(report.frames.count <= CrashLimits.frames, "\(report.frames.count) calls")
            try demand(report.images.count <= report.frames.count, "\(report.images.count) images")
            for frame in report.frames {
                try demand((1...10_000_000).contains(frame.line ?? 1), "line \(frame.line ?? 0)")
                for text in [frame.function, frame.image, frame.file] { try demandClean(text, 600) }
            }
            for text in [
                report.program, report.bundle, report.version, report.build, report.system, report.architecture,
            ] {
                try demandClean(text, 200)
            }
            try demandClean(report.reason, 200)
            try demandClean(report.title, 400)
            try demandClean(report.message?.replacing("\n", with: " "), 2_000)
            try demand(report.signature.utf8.count == 32, "the signature \(report.signature)")
            let kept = try JSONDecoder().decode(CrashReport.self, from: JSONEncoder().encode(report))
            try demand(kept == report, "the report is another one as JSON")
            try demand(kept.signature == report.signature, "the signature changed")
        },
        .pure("object-file", corpus: { Corpus.objectFiles() }) { bytes, _ in
            let object = ObjectFile(size: bytes.count) { offset, count in
                offset < 0 || count < 0 ? [] : Array(bytes.dropFirst(offset).prefix(count))
            }
            for slice in object?.slices ?? [] {
                try demand((8...128).contains(slice.identifier.utf8.count), "the identifier \(slice.identifier)")
            }
        },
    ]

    private static func demandClean(_ text: String?, _ limit: Int) throws {
        guard let text else { return }
        try demand(text.utf8.count <= limit, "a text of \(text.utf8.count) bytes")
        let isClean = text.unicodeScalars.allSatisfy {
            $0.value >= 0x20 && !(0x7F..<0xA0).contains($0.value) && !(0x200B...0x200F).contains($0.value)
                && !(0x2028...0x202E).contains($0.value)
        }
        try demand(isClean, "a text with control characters")
    }

    private static let crashWords = [
        "Thread 0 Crashed:\n", "Last Exception Backtrace:\n", "(0x1 0x2)\n", "Binary Images:\n",
        "0   Shop  0x1 f + 1 (a.swift:2)\n",
        "Application Specific Information:\n", "Exception Type: ", "Version: 1 (2)\n", "*** Program crashed: ",
        " at 0x1 ***\n",
        "\u{1F4A3} ", "Thread 1 crashed:\n", "1 [ra] 0x1 f() + 1 in Shop at /a.swift:1:2\n", "Current stack trace:\n",
        "Received signal 4. Backtrace:\n", "0x1, f() at /a.swift:1\n", "a.swift:1: Fatal error: x\n",
        ": file a, line 1",
        "Images (1 omitted):\n", "0x1\u{2013}0x2 abcdef0123 Shop /Shop\n",
        "==1==ERROR: AddressSanitizer: x on address 0x1\n",
        "WARNING: ThreadSanitizer: data race (pid=1)\n", "#0 0x1 in f(int) /a.cc:1:2 (Shop+0x1) (BuildId: abcdef01)\n",
        "a.c:1:2: runtime error: x\n", "SUMMARY: ", "closure #1 in ", "specialized ", "generic specialization <",
        "operator<",
        "(anonymous namespace)::", "\u{1B}[91m", "\r", "0xffffffffffffffff", "99999999999999999999",
        "\"triggered\":true",
        "\"imageIndex\":-1", "\"lastExceptionBacktrace\":[]", "\"kind\":\"crashReport\"",
        "2026-11-26 15:28:37.3451 +9999",
    ]
}

extension Corpus {
    /// Small reports of each format.
    static func crashes() throws -> [[UInt8]] {
        let file = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appending(path: "CrashReportsTests/Samples.swift")
        // The texts between the quotes; what stands for other characters there is only another text here.
        let source = try String(contentsOf: file, encoding: .utf8)
        let texts = source.components(separatedBy: "\"\"\"").enumerated().filter { $0.offset % 2 == 1 }.map(\.element)
        return texts.map { text in
            let lines = text.split(separator: "\n").map { $0.drop { $0 == " " } }
            var plain = lines.joined(separator: "\n")
            for (written, meant) in escapes { plain = plain.replacing(written, with: meant) }
            return Array(plain.utf8)
        }
    }

    private static let escapes = [
        ("\\\n", ""), ("\\t", "\t"), ("\\r", "\r"), ("\\u{1B}", "\u{1B}"), ("\\u{2013}", "\u{2013}"),
        ("\\u{2502}", "\u{2502}"), ("\\u{1F4A3}", "\u{1F4A3}"), ("\\(base)", "4330815488"), ("\\(build)", "317"),
        ("\\(line)", "42"), ("\\\\/", "\\/"),
    ]

    /// The headers of a Mach-O, a fat and an ELF file.
    static func objectFiles() -> [[UInt8]] {
        func little(_ numbers: [UInt32]) -> [UInt8] {
            numbers.flatMap { number in (0..<4).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) } }
        }
        let machO = little([0xFEED_FACF, 0x0100_000C, 0, 10, 1, 24, 0, 0, 0x1B, 24, 1, 2, 3, 4])
        let fat: [UInt8] = [
            0xCA, 0xFE, 0xBA, 0xBE, 0, 0, 0, 1, 1, 0, 0, 12, 0, 0, 0, 0, 0, 0, 0, 28, 0, 0, 0, 56, 0, 0, 0, 0,
        ]
        // A header of 64 bytes, one segment of notes, and the note with the build id.
        var elf: [UInt8] = [0x7F, 0x45, 0x4C, 0x46, 2, 1, 1] + [UInt8](repeating: 0, count: 57)
        (elf[18], elf[32], elf[54], elf[56]) = (0x3E, 64, 56, 1)
        let segment = little([4, 0, 120, 0, 0, 0, 0, 0, 36, 0, 36, 0, 4, 0])
        let note = little([4, 20, 3]) + Array("GNU\0".utf8) + [UInt8](repeating: 7, count: 20)
        return [machO, fat + machO, elf + segment + note]
    }
}
