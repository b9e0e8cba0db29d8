import ForeignText

/// Finds the location in the project's code that a failure's text points at.
struct SourceLocator {
    struct Location: Equatable {
        var file: String
        var line: Int
    }

    /// The file that the report names for the test, if any. A location in it is preferred.
    private let declaredFile: String?
    private let declaredBase: Substring?

    /// The parts of the name of the test's class or module. The last one is often the file's name.
    private let suiteParts: [Substring]

    init(declaredFile: String? = nil, suite: String) {
        self.declaredFile = declaredFile
        declaredBase = declaredFile?.split { $0 == "/" || $0 == "\\" }.last
        suiteParts = suite.utf8.split { ".$:\\/".utf8.contains($0) }.suffix(8).compactMap(Substring.init)
    }

    /// The best location in `texts`, of which the first is searched first; nil if only frameworks are named.
    func locate(in texts: [String?]) -> Location? {
        for case let text? in texts {
            var best: (score: Int, location: Location)?
            // A trace names few files many times.
            var scores: [String: Int] = [:]
            var looked = 0
            text.utf8.withContiguousStorageIfAvailable { bytes in
                for line in bytes.split(separator: .newline) {
                    // No trace is that long. A text full of locations would take seconds.
                    if looked > 512 { break }
                    for candidate in Self.candidates(in: line) {
                        looked += 1
                        let known = scores[candidate.file] ?? score(candidate.file)
                        scores[candidate.file] = known
                        guard known >= 0, !Self.isForeignFrame(line) else { continue }
                        let score = known + (Self.contains(line, ": error: ") ? 10 : 0)
                        // A Python traceback ends with the failing line; all others start with it.
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

    /// The location, with the report's own path of the file if both name the same file.
    private func reconciled(_ location: Location) -> Location {
        guard let declaredFile else { return location }
        let declared = declaredFile.hasPrefix("./") ? String(declaredFile.dropFirst(2)) : declaredFile
        let found = location.file.hasPrefix("./") ? String(location.file.dropFirst(2)) : location.file
        let same =
            declared == found || declared.hasSuffix("/" + found) || found.hasSuffix("/" + declared)
        return same ? Location(file: declaredFile, line: location.line) : location
    }

    /// How likely the file belongs to the project and to the test; less than 0 for a file that does not belong to the
    /// project.
    private func score(_ path: String) -> Int {
        let path = path.replacing("\\", with: "/")
        if Self.foreignPaths.contains(where: { path.byteRange(of: $0) != nil }) { return -1 }
        // A settings file is where a tool failed; a test fails in code.
        var score = path.hasSuffix(".json") ? 0 : 1
        let base = path.split(separator: "/").last ?? ""
        if let declaredBase, declaredBase == base { score += 20 }
        if suiteParts.contains(base.prefix { $0 != "." }) { score += 20 }
        return score
    }

    private typealias Line = Slice<UnsafeBufferPointer<UInt8>>

    /// Whether a line is a framework's frame, such as `at org.junit…`.
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

    /// Paths of code that a project uses but does not contain.
    private static let foreignPaths = [
        "node_modules/", "/site-packages/", "/dist-packages/", "/usr/lib/", "/usr/include/", "/usr/local/go/src/",
        "/rustc/", ".cargo/registry/", "/pkg/mod/", ".build/checkouts/", "library/core/src/", "library/std/src/",
        "library/alloc/src/", "/lib/python", "/gems/", "/lib/ruby/", "/System/Library/", "/.pyenv/", "/vendor/phpunit/",
        "/go/src/runtime/", "/go/src/testing/", "/Xcode.app/", "/swift-corelibs", "<frozen",
    ]

    /// Starts of Java, Kotlin, Scala and .NET frames that do not belong to the project.
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
        "jl", "r", "R", "ml", "cu", "f90", "s", "S", "cmake", "sql", "json",
    ]

    /// Every location in a line, in the forms of ``mark(at:in:)``.
    private static func candidates(in line: Line) -> [Location] {
        var found: [Location] = []
        var index = line.startIndex
        while index < line.endIndex, found.count < 16 {
            defer { index += 1 }
            guard let mark = mark(at: index, in: line) else { continue }
            let digits = line[mark.number...].prefix { $0.isDigit }.prefix(8)
            guard let number = Int(String(decoding: digits, as: UTF8.self)), number > 0,
                let path = path(endingAt: index, in: line, mark.form),
                mark.form.fits(path, after: line[digits.endIndex...])
            else { continue }
            found.append(Location(file: path, line: number))
        }
        return found
    }

    /// How a path and a line number are written together.
    private enum Form {
        /// `path.ext:12`.
        case colon
        /// `File "path.ext", line 12`.
        case quoted
        /// .NET's `in path.cs:line 12`, the word in the language of the machine.
        case dotNet
        /// `path.ext(12)`, `path.ext(12,5)`.
        case parenthesis
        /// Dart's `path.dart 12:5`.
        case space

        /// Whether a path may have this form if `rest` follows the number.
        func fits(_ path: String, after rest: Line) -> Bool {
            switch self {
            case .colon: !path.hasSuffix(".json") || rest.first == UInt8(ascii: ":")
            case .quoted: true
            case .dotNet: [".cs", ".fs", ".vb"].contains { path.hasSuffix($0) }
            case .parenthesis:
                rest.first == UInt8(ascii: ")")
                    || rest.first == UInt8(ascii: ",") && rest.dropFirst().prefix(8).contains(UInt8(ascii: ")"))
            case .space: path.hasSuffix(".dart") && rest.first == UInt8(ascii: ":")
            }
        }
    }

    /// The form in which the byte at `index` ends a path, and where the number begins.
    private static func mark(at index: Int, in line: Line) -> (form: Form, number: Int)? {
        let next = index + 1
        switch line[index] {
        case UInt8(ascii: ":"):
            guard let first = line[next...].first else { return nil }
            if first.isDigit { return (.colon, next) }
            // A word, then the number: "line 12", "Zeile 12", "línea 12", "行号 12".
            let word = line[next...].prefix(24).prefix { $0.isLetter || $0 >= 0x80 }
            guard !word.isEmpty, word.endIndex < line.endIndex, line[word.endIndex] == 0x20 else { return nil }
            return line[(word.endIndex + 1)...].first?.isDigit == true ? (.dotNet, word.endIndex + 1) : nil
        case UInt8(ascii: "\""):
            return line[next...].starts(with: ", line ".utf8) ? (.quoted, next + 7) : nil
        case UInt8(ascii: "("):
            return line[next...].first?.isDigit == true ? (.parenthesis, next) : nil
        case 0x20:
            return line[next...].first?.isDigit == true && line[..<index].suffix(5).elementsEqual(".dart".utf8)
                ? (.space, next) : nil
        default: return nil
        }
    }

    private static func path(endingAt end: Int, in line: Line, _ form: Form) -> String? {
        let lowest = max(line.startIndex, end - 1024)
        var bytes = line[start(ofPathEndingAt: end, from: lowest, in: line, isQuoted: form == .quoted)..<end]
        guard let dot = bytes.lastIndex(of: UInt8(ascii: ".")), dot > bytes.startIndex, bytes.endIndex - dot <= 9,
            extensions.contains(String(decoding: bytes[(dot + 1)...], as: UTF8.self)),
            bytes[dot - 1] != UInt8(ascii: "/")
        else { return nil }
        // This is checked last, because it searches the whole line backwards.
        if form != .quoted { bytes = withSpaces(bytes, from: lowest, in: line, form) }
        if bytes.starts(with: "///".utf8) { bytes = bytes.dropFirst(2) }
        return String(cleaning: bytes)
    }

    private static func start(ofPathEndingAt end: Int, from lowest: Int, in line: Line, isQuoted: Bool) -> Int {
        var start = end
        while start > lowest {
            let byte = line[start - 1]
            if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") || byte == UInt8(ascii: "`") { break }
            if !isQuoted {
                if byte <= 0x20 || "()[]{}<>,;=|".utf8.contains(byte) { break }
                // The end of a scheme such as file:///
                if byte == UInt8(ascii: ":"), start >= end || !isDrive(at: start - 2, from: lowest, in: line) { break }
            }
            start -= 1
        }
        return start
    }

    /// Whether `X:\` or `X:/` begins at `index`.
    private static func isDrive(at index: Int, from lowest: Int, in line: Line) -> Bool {
        guard index >= lowest, index + 2 < line.endIndex else { return false }
        return line[index].isLetter && line[index + 1] == UInt8(ascii: ":")
            && (line[index + 2] == UInt8(ascii: "\\") || line[index + 2] == UInt8(ascii: "/"))
            && (index - 1 < lowest || !line[index - 1].isLetter)
    }

    /// The path, including parts before a blank or parenthesis: `C:\Program Files (x86)\a.cs`, `in /my work/a.cs:line
    /// 1`.
    private static func withSpaces(_ bytes: Line, from lowest: Int, in line: Line, _ form: Form) -> Line {
        guard bytes.startIndex > lowest, !isDrive(at: bytes.startIndex, from: lowest, in: line) else { return bytes }
        var index = bytes.startIndex
        while index > lowest {
            index -= 1
            let byte = line[index]
            if byte < 0x20 || "\"<>|*?".utf8.contains(byte) { break }
            if isDrive(at: index, from: lowest, in: line) { return line[index..<bytes.endIndex] }
            if form == .dotNet, byte == 0x20, index - 3 >= lowest, line[(index - 3)...index].elementsEqual(" in ".utf8),
                line[index + 1] == UInt8(ascii: "/")
            {
                return line[(index + 1)..<bytes.endIndex]
            }
        }
        return bytes
    }
}
