import Foundation
import SystemPackage
import TestBasics
import TestSupport

@testable import Results
@testable import TerminalText
@testable import Engine
@testable import StepLogs

extension FuzzTarget {
    private static let escapes = [
        "\u{1B}[", "\u{1B}[31m", "\u{1B}[1;38;5;200m", "\u{1B}[38:2::1:2:3m", "\u{1B}[0m", "\u{1B}[2K", "\u{1B}[1G",
        "\u{1B}[999999999999999999999m", "\u{1B}]0;", "\u{7}", "\u{1B}\\", "\u{1B}P", "\u{1B}(B", "\r", "\n", "\u{8}",
        "\u{1B}[;;;;;;;;m", "\u{1B}[7m", "\u{1B}[>4m", "\u{18}", "\u{85}", "<", "&", "\"", "'", "\u{200D}",
    ]

    @Sendable private static func logCorpus() throws -> [[UInt8]] {
        try Corpus.results(".txt")
            + Corpus.texts(
                "\u{1B}[1mCompiling\u{1B}[0m 3 files\n\u{1B}[31merror:\u{1B}[0m no\n", "10%\r20%\r\u{1B}[2K100%\nend",
                "\u{1B}]8;;http://x.example\u{1B}\\link\u{1B}]8;;\u{1B}\\\n",
                "<a href=\"x\">&amp;</a>\n\u{202E}txt\u{202C}")
    }

    static let logs: [FuzzTarget] = [
        .pure("terminal", words: escapes, corpus: logCorpus, check: checkTerminal),
        .pure("html", words: escapes, corpus: logCorpus, check: checkHTML),
        FuzzTarget(name: "log-file", corpus: logCorpus, words: escapes, limit: 128 << 10) { loop in
            try await withFuzzFolder { folder in
                try await loop { input, random in try checkLogFile(input.bytes, FilePath(folder), &random) }
            }
        },
    ]

    @Sendable private static func checkTerminal(_ bytes: [UInt8], _ random: inout SplitMix64) throws {
        let plain = TerminalText.clean(bytes, colours: false)
        try SafeText.demandTerminal(plain, colours: false)
        let coloured = TerminalText.clean(bytes, colours: true)
        try SafeText.demandTerminal(coloured, colours: true)
        try demand(SafeText.withoutColours(coloured) == Array(plain.utf8), "colours change the text")
        // The longest that one byte can become: a line feed with all styles restored after it.
        try demand(coloured.utf8.count <= 64 + 96 * bytes.count, "\(coloured.utf8.count) bytes of \(bytes.count)")
        try demand(plain.utf8.count <= 64 + 8 * bytes.count, "\(plain.utf8.count) bytes of \(bytes.count)")
        // A stream in arbitrary pieces gives the same text; only a line over one mebibyte differs, since it is broken.
        var stream = TerminalText(colours: true)
        var whole = ""
        var start = 0
        while start < bytes.count {
            let end = min(bytes.count, start + 1 + random.below(1 + bytes.count / 3))
            whole += stream.feed(bytes[start..<end])
            start = end
        }
        whole += stream.finish()
        if bytes.count < TerminalText.heldBackLimit { try demand(whole == coloured, "pieces change the text") }
        let name = TerminalText.name(String(decoding: bytes, as: UTF8.self))
        try SafeText.demandTerminal(name, colours: false)
        try demand(!name.utf8.contains(0x0A) && !name.utf8.contains(0x09), "a name of two lines")
        try demand(name.utf8.count <= 200 * 9 + 3, "a name of \(name.utf8.count) bytes")
    }

    @Sendable private static func checkHTML(_ bytes: [UInt8], _ random: inout SplitMix64) throws {
        let html = Array(ANSIHTML.render(bytes).utf8)
        let text = try SafeText.textOfSpans(html)
        try demand(text == Array(TerminalText.clean(bytes, colours: false).utf8), "the page shows another text")
        try demand(html.count <= 256 + 160 * bytes.count, "\(html.count) bytes of \(bytes.count)")
        let escaped = Array(ANSIHTML.escape(String(decoding: bytes, as: UTF8.self)).utf8)
        try SafeText.demandTerminal(String(decoding: try SafeText.textOfSpans(escaped), as: UTF8.self), colours: false)
        try demand(!escaped.contains(UInt8(ascii: "<")), "escaped text has markup")
        var renderer = ANSIHTML(lineLimit: 1 + random.below(100))
        for line in bytes.split(separator: 0x0A).prefix(20) {
            _ = try SafeText.textOfSpans(Array(renderer.line(line).utf8))
        }
        let sheet = renderer.stylesheet
        try demand(!sheet.contains("<") && !sheet.contains("url"), "a style sheet with something of the log's")
    }

    private static func checkLogFile(_ bytes: [UInt8], _ folder: FilePath, _ random: inout SplitMix64) throws {
        let limits = LogLimits(head: random.pick([0, 1, 100, 5_000]), tail: random.pick([0, 1, 99, 4_096]))
        var writer = LogWriter(folder: folder, name: "l", limits: limits)
        var (start, time) = (0, 0)
        while start < bytes.count {
            let end = min(bytes.count, start + 1 + random.below(1 << random.below(14)))
            bytes[start..<end].withUnsafeBytes { writer.append($0, at: time) }
            start = end
            time += random.below(3)
        }
        let record = writer.finish()
        try demand(writer.problem == nil, "the log can't be written: \(String(describing: writer.problem))")
        guard let record else { return try demand(bytes.isEmpty, "no log of \(bytes.count) bytes") }
        let kept = Array(try Data(contentsOf: URL(filePath: folder.appending("l").string)))
        if record.droppedBytes == 0 {
            try demand(kept == bytes, "the log is not what came")
        } else {
            try demand(kept.starts(with: bytes.prefix(limits.head)), "the start is not what came")
            try demand(Array(kept.suffix(limits.tail)) == Array(bytes.suffix(limits.tail)), "the end is not what came")
            try demand(record.droppedBytes == bytes.count - limits.head - limits.tail, "\(record.droppedBytes) dropped")
        }
        let times = (try? Data(contentsOf: URL(filePath: folder.appending("l.times").string))).map { Array($0) } ?? []
        let read = LogTimes(times)
        var last = 0
        for offset in stride(from: 0, to: kept.count, by: max(kept.count / 50, 1)) {
            let now = read.milliseconds(at: offset) ?? 0
            try demand(now >= last && now <= time, "byte \(offset) came at \(now) ms, one before it at \(last)")
            last = now
        }
        // The file with times comes from the archive, where it may have been damaged.
        let foreign = LogTimes(bytes)
        for offset in [0, 1, 1 << 40, Int.max, Int.min] { _ = foreign.milliseconds(at: offset) }
    }
}
