import Results
import Pipeline

/// Chooses the parts of a change that most likely caused a failure.
struct NearestHunks {
    private let hunks: [RunBundle.Hunk]
    private let nearness: [String: TestNearness]
    private let isSmall: Bool

    init(_ hunks: [RunBundle.Hunk]) {
        self.hunks = hunks
        let files = Set(hunks.map(\.file))
        nearness = Dictionary(
            uniqueKeysWithValues: files.map {
                ($0, TestNearness(changedFiles: [ChangedFile(status: .modified, path: $0)]))
            })
        isSmall = hunks.count <= 3
    }

    /// At most `count` parts, the nearest first, each cut to `lines` lines around the location.
    ///
    /// A part is near if it is in the same file (the fewer lines away, the nearer), in a file that the text names, or
    /// in a file with the same name as the test's. If a change has at most three parts, all of them are near.
    func near(
        file: String?, line: Int?, suite: String, text: String, count: Int, lines: Int
    ) -> [RunBundle.Hunk] {
        let scored = hunks.compactMap { hunk -> (score: Int, hunk: RunBundle.Hunk)? in
            score(hunk, file, line, suite, text).map { ($0, hunk) }
        }
        // Parts that are near only because the change is small are left out if another part is really near.
        let best = scored.map(\.score).min() ?? 0
        return scored.filter { $0.score < 400_000 || best >= 400_000 }.sorted { $0.score < $1.score }
            .prefix(best >= 400_000 ? 1 : count).map { scored in
                Self.cut(scored.hunk, to: lines, around: scored.hunk.file == file ? line : nil)
            }
    }

    private func score(_ hunk: RunBundle.Hunk, _ file: String?, _ line: Int?, _ suite: String, _ text: String) -> Int? {
        if hunk.file == file {
            guard let line else { return 0 }
            let end = hunk.line + max(hunk.lines, 1) - 1
            return min(line < hunk.line ? hunk.line - line : max(line - end, 0), 100_000)
        }
        let name = hunk.file.split(separator: "/").last.map(String.init) ?? hunk.file
        if !text.isEmpty, text.contains(name) { return 200_000 }
        if let distance = nearness[hunk.file]?.distance(file: file, suite: suite), distance <= 1 { return 300_000 }
        return isSmall ? 400_000 : nil
    }

    /// The part's lines nearest to `line`; otherwise the lines around its first change.
    private static func cut(_ hunk: RunBundle.Hunk, to limit: Int, around line: Int?) -> RunBundle.Hunk {
        let lines = hunk.text.split(separator: "\n", omittingEmptySubsequences: false)
        guard lines.count > limit else { return hunk }
        var number = hunk.line
        var numbers: [Int] = []
        for text in lines {
            numbers.append(number)
            if !text.hasPrefix("-") { number += 1 }
        }
        let centre =
            line.flatMap { wanted in numbers.lastIndex { $0 <= wanted } }
            ?? lines.firstIndex { $0.hasPrefix("+") || $0.hasPrefix("-") } ?? 0
        let start = max(0, min(centre - limit / 2, lines.count - limit))
        let kept = lines[start..<(start + limit)]
        return RunBundle.Hunk(
            file: hunk.file, line: numbers[start], lines: kept.count { !$0.hasPrefix("-") },
            text: kept.joined(separator: "\n"))
    }
}
