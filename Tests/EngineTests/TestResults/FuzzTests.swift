import Engine
import Testing

@Suite struct FuzzTests {
    /// A small generator whose seed is in the failure's message.
    private struct Random: RandomNumberGenerator {
        var state: UInt64
        mutating func next() -> UInt64 {
            state &+= 0x9E37_79B9_7F4A_7C15
            var z = state
            z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
            z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
            return z ^ (z >> 31)
        }
    }

    private static let pieces: [[UInt8]] =
        [
            "<", ">", "&", "\"", "'", "]]>", "<![CDATA[", "<!--", "<!DOCTYPE", "<?", "</", "/>", "&#x110000;", "&#0;",
            "\u{0}",
            "{", "}", "[[[[", "\\u", "\n", "Test ", "' ", ": error: ", " : ", "(", ":1", "\u{1B}[", "<testcase>",
            "</testcase>",
            "<testsuite name='x'>", "<failure>", "99999999999999999999", "-1", ",", "\"line\":-9223372036854775808",
            "\u{2714} ",
        ].map { Array($0.utf8) } + [[0xFF, 0xFE], [0xC3], [0x80], [0xED, 0xA0, 0x80], [0xFE, 0xFF]]

    private static func mutate(_ bytes: [UInt8], _ random: inout Random) -> [UInt8] {
        var bytes = bytes
        for _ in 0..<Int.random(in: 1...12, using: &random) where !bytes.isEmpty {
            let at = Int.random(in: 0..<bytes.count, using: &random)
            let end = min(bytes.count, at + Int.random(in: 1...40, using: &random))
            switch Int.random(in: 0..<6, using: &random) {
            case 0: bytes[at] = UInt8.random(in: 0...255, using: &random)
            case 1: bytes.removeSubrange(at..<end)
            case 2: bytes.insert(contentsOf: bytes[at..<end], at: Int.random(in: 0...bytes.count, using: &random))
            case 3: bytes.insert(contentsOf: pieces[Int.random(in: 0..<pieces.count, using: &random)], at: at)
            case 4: bytes.removeSubrange(at...)
            default: bytes.swapAt(at, Int.random(in: 0..<bytes.count, using: &random))
            }
        }
        return bytes
    }

    @Test(.timeLimit(.minutes(5))) func nothingCrashesHangsOrExceedsTheLimits() throws {
        let limits = TestResultLimits(
            fileBytes: 64 << 10, tests: 20, fieldBytes: 300, nameBytes: 60, totalBytes: 4000, depth: 6)
        let reader = TestResultReader(limits: limits)
        let clock = ContinuousClock()
        let end = clock.now + .seconds(4)
        let files = try Fixture.names.map { try Fixture.bytes($0) }
        var seed: UInt64 = 1
        while clock.now < end {
            seed += 1
            var random = Random(state: seed)
            let bytes = Self.mutate(files[Int(seed % UInt64(files.count))], &random)
            let format = seed % 3 == 0 ? ResultFormat.allCases.randomElement(using: &random) : nil
            var results = TestResults()
            let spent = clock.measure { results = reader.read(bytes, named: "f", format: format) }
            #expect(spent < .seconds(5), "seed \(seed)")
            #expect(results.tests.count <= limits.tests, "seed \(seed)")
            #expect(results.findings.count <= 102, "seed \(seed)")
            for test in results.tests {
                let fits =
                    test.suite.utf8.count <= 60 && test.name.utf8.count <= 60 && (test.file?.utf8.count ?? 0) <= 60
                    && (test.message?.utf8.count ?? 0) <= 300 && (test.details?.utf8.count ?? 0) <= 300
                    && test.attempt >= 1 && (test.line ?? 1) >= 1 && 0...1e9 ~= test.duration ?? 0
                #expect(fits, "seed \(seed): \(test)")
            }
        }
        #expect(seed > 20)
    }
}
