import MachinePool
import Pipeline

/// How long the tests of a list take, by what is known of the tests of earlier runs.
///
/// Lists and reports write the same test in different ways: `tests/test_a.py::TestX::test_b` is `tests.test_a.TestX` and
/// `test_b` in JUnit XML. So names are compared by their words.
enum ListedTests {
    /// The tests of each part.
    static func parts(of list: [String], among count: Int, knowing known: [KnownTest]) -> [[String]] {
        let seconds = seconds(of: list, knowing: known)
        let tests = zip(list, seconds).map { ShardSplit.Test($0, seconds: $1) }
        return ShardSplit.parts(of: tests, among: max(count, 1)).map { $0.map(\.id) }
    }

    /// The seconds of each line of a list; nil where nothing is known.
    ///
    /// A line stands for the tests whose names begin with its words: a test with its cases, or a suite. Otherwise it
    /// stands for those of the file that it names, or for the one test whose name ends with its words.
    static func seconds(of list: [String], knowing known: [KnownTest]) -> [Double?] {
        let keys = list.map { words(of: $0).joined(separator: "/") }
        var found = Dictionary(keys.map { ($0, Found()) }, uniquingKeysWith: { first, _ in first })
        found[""] = nil
        for test in known {
            guard let seconds = test.seconds, seconds.isFinite, seconds >= 0 else { continue }
            let words = words(of: test.id)
            var key = ""
            for word in words {
                key += key.isEmpty ? word : "/\(word)"
                found[key]?.beginning.add(seconds)
            }
            for key in endings(of: words).dropFirst() { found[key]?.ending.add(seconds, of: test.id) }
            for key in endings(of: test.file.map(Self.words) ?? []) {
                found[key]?.file.add(seconds, of: test.file ?? "")
            }
        }
        return keys.map { found[$0]?.seconds }
    }

    private struct Found {
        var beginning = Sum()
        var file = Sum()
        var ending = Sum()
        var seconds: Double? { beginning.value ?? file.value ?? ending.value }
    }

    /// A sum that means something only if all of it belongs to one thing.
    private struct Sum {
        private var seconds = 0.0
        private var owner: String?
        private var isClear = true

        var value: Double? { owner != nil && isClear ? seconds : nil }

        mutating func add(_ more: Double, of name: String = "") {
            isClear = isClear && (owner == nil || owner == name)
            owner = name
            seconds += more
        }
    }

    private static func endings(of words: [String]) -> [String] {
        words.indices.map { words[$0...].joined(separator: "/") }
    }

    /// The most words of a name that are compared.
    private static let mostWords = 40

    /// The letters and digits of a name, without the ending of a file's name.
    private static func words(of name: String) -> [String] {
        var words: [String] = []
        var word: [Unicode.Scalar] = []
        var isAfterDot = false
        func end(before next: Unicode.Scalar?) {
            guard !word.isEmpty else { return }
            var text = String.UnicodeScalarView()
            text.append(contentsOf: word)
            word = []
            let isEnding = isAfterDot && (next == nil || next == ":" || next == " ") && endings.contains(String(text))
            if !isEnding, words.count < mostWords { words.append(String(text)) }
        }
        for scalar in name.unicodeScalars {
            if scalar == "_" || scalar.properties.isAlphabetic || scalar.properties.numericType != nil {
                word.append(scalar)
            } else {
                end(before: scalar)
                isAfterDot = scalar == "."
            }
        }
        end(before: nil)
        return words
    }

    private static let endings: Set<String> = [
        "bats", "c", "cc", "cjs", "cpp", "cs", "cts", "dart", "ex", "exs", "feature", "go", "java", "jl", "js", "jsx",
        "kt", "lua", "mjs", "mts", "php", "py", "rb", "rs", "sh", "swift", "ts", "tsx",
    ]
}
