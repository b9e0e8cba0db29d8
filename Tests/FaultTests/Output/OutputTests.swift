import TestBasics
import Foundation
import TestSupport
import Testing

/// The output of steps: fault 15.
struct OutputTests {
    /// Bytes that terminals and browsers act on: titles, clipboard, cursor, reports, NUL, bytes that are not text.
    private static let hostile: [UInt8] =
        Array(
            """
            \u{1B}]0;title\u{07}\u{1B}]52;c;aGk=\u{07}\u{1B}]8;;http://x\u{1B}\\link\u{1B}]8;;\u{1B}\\
            \u{1B}[2J\u{1B}[1;1H\u{1B}[6n\u{1B}c\u{1B}P+q544e\u{1B}\\\u{1B}[31mred\u{1B}[0m
            <script>alert(1)</script><img src=x onerror=alert(2)>
            back\u{8}\u{8}\u{8}\u{8}over\rreturn\u{7F}
            \u{202E}right to left

            """.utf8) + [0, 1, 2, 0x9B, 0x33, 0x31, 0x6D, 0xFF, 0xFE, 0xC3, 0x28, 0x90, 0x9D, 10]

    @Test("fault 15: control sequences, NUL and bytes that are no text", .timeLimit(.minutes(6)))
    func hostileOutput() async throws {
        let octal = Self.hostile.map { String(format: "\\%03o", $0) }.joined()
        try await Bench.faults { bench in
            _ = try await bench.look()
            try await bench.change(1, ["check.sh": "printf '\(octal)'; exit 1\n"])
            #expect(try await bench.look().code == 1)

            let raw = "\(bench.root)/raw"
            try await bench.command(["sh", "-c", "\"$0\" logs 1 > \"$1\"", Bench.pipectl, raw]).succeeded()
            #expect(
                FileManager.default.contents(atPath: raw).map(Array.init) == Self.hostile, "the log is kept as it came")

            let shown = "\(bench.root)/shown"
            for arguments in ["logs 1", "logs 1 --tail 50", "report 1"] {
                // On a pseudo-terminal, where escape sequences would work.
                let command = "\(Bench.pipectl) \(arguments)"
                _ = try await bench.command(
                    Machine.isLinux
                        ? ["script", "-qec", command, shown] : ["script", "-q", shown, "sh", "-c", command])
                let bytes = [UInt8](FileManager.default.contents(atPath: shown) ?? Data())
                #expect(!bytes.isEmpty)
                let problem = Self.active(bytes)
                #expect(problem == nil, "\(arguments): \(problem ?? "")")
            }
            for format in ["html", "markdown", "text"] {
                let page = try await bench.pipectl("report", "1", "--format", format).output
                #expect(page.contains("red"), "\(format) shows the log")
                #expect(
                    !page.unicodeScalars.contains { $0.value < 32 && !"\n\t".unicodeScalars.contains($0) }, "\(format)")
                if format == "html" {
                    #expect(!page.contains("<script>alert"))
                    #expect(!page.contains("<img"))
                }
            }
        }
    }

    /// Everything except text, line ends and colours: `ESC [ digits m`.
    private static func active(_ bytes: [UInt8]) -> String? {
        var index = 0
        // The header and footer that script(1) writes are plain text.
        while index < bytes.count {
            let byte = bytes[index]
            if byte == 0x1B {
                var end = index + 1
                guard end < bytes.count, bytes[end] == UInt8(ascii: "[") else { return "ESC at \(index)" }
                end += 1
                while end < bytes.count, bytes[end] == UInt8(ascii: ";") || (48...57).contains(bytes[end]) { end += 1 }
                guard end < bytes.count, bytes[end] == UInt8(ascii: "m") else { return "a sequence at \(index)" }
                index = end
            } else if byte < 32 && ![9, 10, 13].contains(byte) || byte == 127 {
                return "byte \(byte) at \(index)"
            }
            index += 1
        }
        return String(validating: bytes, as: UTF8.self) == nil ? "it is no UTF-8" : nil
    }
}
