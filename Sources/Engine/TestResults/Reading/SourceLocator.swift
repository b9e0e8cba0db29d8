/// Finds the place in the project's code that a failure's text points at.
struct SourceLocator {
    struct Location: Equatable {
        var file: String
        var line: Int
    }

    /// The file the report names for the test, if any: a place in it is preferred.
    var declaredFile: String?

    /// The test's class or module, whose last part is often the file's name.
    var suite: String

    /// The best place in `texts`, the first of which is looked at first; `nil` where only frameworks are named.
    func locate(in texts: [String?]) -> Location? {
        for case let text? in texts {
            var best: (score: Int, location: Location)?
            text.utf8.withContiguousStorageIfAvailable { bytes in
                for line in bytes.split(separator: .newline) {
                    for candidate in Self.candidates(in: line) {
                        let score = score(candidate, line: line)
                        guard score >= 0 else { continue }
                        // A Python traceback ends where it happened, every other one starts there.
                        let later = candidate.file.hasSuffix(".py")
                        if let known = best, later ? score < known.score : score <= known.score { continue }
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

    private func score(_ location: Location, line: Slice<UnsafeBufferPointer<UInt8>>) -> Int {
        let path = location.file
        if Self.foreignPaths.contains(where: path.contains) { return -1 }
        let text = String(decoding: line.prefix(512), as: UTF8.self).trimmed
        if text.hasPrefix("at "), Self.foreignFrames.contains(where: text.dropFirst(3).hasPrefix) { return -1 }
        var score = 0
        let base = path.split(separator: "/").last ?? ""
        if let declaredFile, declaredFile.split(separator: "/").last == base { score += 20 }
        let stem = base.prefix { $0 != "." }
        if suite.split(whereSeparator: { $0 == "." || $0 == "$" || $0 == ":" || $0 == "\\" }).contains(stem) {
            score += 20
        }
        if text.contains(": error: ") { score += 10 }
        return score
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
