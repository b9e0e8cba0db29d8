/// Finds the place in the project's code that a failure's text points at.
struct SourceLocator {
    struct Location: Equatable {
        var file: String
        var line: Int
    }

    /// The file the report names for the test, if any: a place in it is preferred.
    private let declaredFile: String?
    private let declaredBase: Substring?

    /// Parts of the test's class or module, the last of which is often the file's name.
    private let suiteParts: [Substring]

    init(declaredFile: String? = nil, suite: String) {
        self.declaredFile = declaredFile
        declaredBase = declaredFile?.split(separator: "/").last
        suiteParts = suite.utf8.split { ".$:\\/".utf8.contains($0) }.suffix(8).compactMap(Substring.init)
    }

    /// The best place in `texts`, the first of which is looked at first; `nil` where only frameworks are named.
    func locate(in texts: [String?]) -> Location? {
        for case let text? in texts {
            var best: (score: Int, location: Location)?
            // A trace names few files many times.
            var scores: [String: Int] = [:]
            var looked = 0
            text.utf8.withContiguousStorageIfAvailable { bytes in
                for line in bytes.split(separator: .newline) {
                    // No trace is that long; a text made of places would cost seconds.
                    if looked > 512 { break }
                    for candidate in Self.candidates(in: line) {
                        looked += 1
                        let known = scores[candidate.file] ?? score(candidate.file)
                        scores[candidate.file] = known
                        guard known >= 0, !Self.isForeignFrame(line) else { continue }
                        let score = known + (Self.contains(line, ": error: ") ? 10 : 0)
                        // A Python traceback ends where it happened, every other one starts there.
                        let later = candidate.file.hasSuffix(".py")
                        if let best, later ? score < best.score : score <= best.score { continue }
                        best = (score, candidate)
                    }
                }
            }
            if let best { return reconciled(best.location) }
        }
        return nil
    }

    /// The location with the report's own path for the file when both name the same one.
    private func reconciled(_ location: Location) -> Location {
        guard let declaredFile else { return location }
        let declared = declaredFile.hasPrefix("./") ? String(declaredFile.dropFirst(2)) : declaredFile
        let found = location.file.hasPrefix("./") ? String(location.file.dropFirst(2)) : location.file
        let same =
            declared == found || declared.hasSuffix("/" + found) || found.hasSuffix("/" + declared)
        return same ? Location(file: declaredFile, line: location.line) : location
    }

    /// How likely the file is the project's and the test's; less than 0 for one that is not the project's.
    private func score(_ path: String) -> Int {
        if Self.foreignPaths.contains(where: { path.byteRange(of: $0) != nil }) { return -1 }
        var score = 0
        let base = path.split(separator: "/").last ?? ""
        if let declaredBase, declaredBase == base { score += 20 }
        if suiteParts.contains(base.prefix { $0 != "." }) { score += 20 }
        return score
    }

    private typealias Line = Slice<UnsafeBufferPointer<UInt8>>

    /// Whether a line is `at org.junit…` or the like.
    private static func isForeignFrame(_ line: Line) -> Bool {
        let words = line.drop { $0.isXMLSpace }
        guard words.starts(with: "at ".utf8) else { return false }
        return foreignFrames.contains { words.dropFirst(3).starts(with: $0.utf8) }
    }

    private static func contains(_ line: Line, _ text: StaticString) -> Bool {
        text.withUTF8Buffer { wanted in
            guard line.count >= wanted.count else { return false }
            return (line.startIndex...(line.endIndex - wanted.count)).contains { line[$0...].starts(with: wanted) }
        }
    }

    /// Paths of what a project uses but does not write.
    private static let foreignPaths = [
        "node_modules/", "/site-packages/", "/dist-packages/", "/usr/lib/", "/usr/include/", "/usr/local/go/src/",
        "/rustc/", ".cargo/registry/", "/pkg/mod/", ".build/checkouts/", "library/core/src/", "library/std/src/",
        "library/alloc/src/", "/lib/python", "/gems/", "/lib/ruby/", "/System/Library/", "/.pyenv/", "/vendor/phpunit/",
        "/go/src/runtime/", "/go/src/testing/", "/Xcode.app/", "/swift-corelibs", "<frozen",
    ]

    /// Starts of Java, Kotlin, Scala and .NET frames that are not the project's.
    private static let foreignFrames = [
        "org.junit.", "junit.", "java.", "javax.", "jdk.", "sun.", "com.sun.", "java.base/", "org.testng.",
        "kotlin.", "kotlinx.", "scala.", "groovy.", "org.codehaus.groovy.", "org.gradle.", "worker.org.gradle.",
        "org.apache.maven.", "org.assertj.", "org.hamcrest.", "org.mockito.", "org.opentest4j.", "app//org.junit.",
        "Xunit.", "NUnit.", "System.", "Microsoft.",
    ]

    private static let extensions: Set<String> = [
        "swift", "m", "mm", "c", "cc", "cpp", "cxx", "h", "hh", "hpp", "py", "js", "jsx", "ts", "tsx", "mjs", "cjs",
        "mts", "cts", "go", "java", "kt", "kts", "scala", "groovy", "rs", "rb", "php", "phpt", "cs", "fs", "vb", "ex",
        "exs", "lua", "dart", "pl", "t", "sh", "bats", "vue", "svelte", "zig", "hs", "erl", "clj", "feature", "nim",
        "jl", "r", "R", "ml", "cu", "f90", "s", "S", "cmake", "sql",
    ]

    /// Every `path.ext:12`, `File "path.ext", line 12` and `path.ext:line 12` of a line.
    private static func candidates(in line: Slice<UnsafeBufferPointer<UInt8>>) -> [Location] {
        var found: [Location] = []
        var index = line.startIndex
        while index < line.endIndex, found.count < 16 {
            defer { index += 1 }
            let byte = line[index]
            var numberStart = index + 1
            var pathEnd = index
            if byte == UInt8(ascii: ":") {
                if line[numberStart...].starts(with: "line ".utf8) { numberStart += 5 }
            } else if byte == UInt8(ascii: "\""), line[numberStart...].starts(with: ", line ".utf8) {
                numberStart += 7
                pathEnd = index
            } else {
                continue
            }
            let digits = line[numberStart...].prefix { $0.isDigit }.prefix(8)
            guard let number = Int(String(decoding: digits, as: UTF8.self)), number > 0,
                let path = path(endingAt: pathEnd, in: line, quoted: byte == UInt8(ascii: "\""))
            else { continue }
            found.append(Location(file: path, line: number))
        }
        return found
    }

    private static func path(
        endingAt end: Int, in line: Slice<UnsafeBufferPointer<UInt8>>, quoted: Bool
    ) -> String? {
        var start = end
        let lowest = max(line.startIndex, end - 1024)
        while start > lowest {
            let byte = line[start - 1]
            if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") || byte == UInt8(ascii: "`") { break }
            if !quoted {
                if byte <= 0x20 || "()[]{}<>,;=|".utf8.contains(byte) { break }
                if byte == UInt8(ascii: ":") {
                    // A drive letter, or the end of a scheme such as file:///
                    let isDrive =
                        start - 2 >= lowest && line[start - 2].isLetter && start < end
                        && (line[start] == UInt8(ascii: "\\") || line[start] == UInt8(ascii: "/"))
                        && (start - 3 < lowest || !line[start - 3].isLetter)
                    if !isDrive { break }
                }
            }
            start -= 1
        }
        var bytes = line[start..<end]
        if bytes.starts(with: "///".utf8) { bytes = bytes.dropFirst(2) }
        guard let dot = bytes.lastIndex(of: UInt8(ascii: ".")), dot > bytes.startIndex, bytes.endIndex - dot <= 9,
            extensions.contains(String(decoding: bytes[(dot + 1)...], as: UTF8.self)),
            bytes[dot - 1] != UInt8(ascii: "/")
        else { return nil }
        return String(cleaning: bytes)
    }
}
