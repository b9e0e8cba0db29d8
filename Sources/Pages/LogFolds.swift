import TerminalText

/// The passages of a log: groups that its program marks, or long stretches in which nothing failed.
struct LogFolds {
    /// A passage of lines, which are numbered from 0 in what is shown.
    struct Fold: Equatable {
        /// The line with the title belongs to it; the one with the end, too.
        var lines: Range<Int>
        /// Empty for a stretch without a title.
        var title: String
        var isOpen = false
    }

    private enum Mark: Equatable {
        case start(title: String, isOpen: Bool)
        case end
    }

    /// Lines of a long stretch, and those before, behind and around what may matter.
    private static let longStretch = 200
    private static let (head, tail, around) = (20, 100, 20)
    private static let mostDepth = 8

    /// The outermost passages, in order.
    ///
    /// - Parameter important: Lines that must be seen.
    static func folds(of lines: [ArraySlice<UInt8>], important: [Int]) -> [Fold] {
        let marked = groups(lines, important)
        return marked.isEmpty ? stretches(lines.count, important) : marked
    }

    private static func groups(_ lines: [ArraySlice<UInt8>], _ important: [Int]) -> [Fold] {
        var folds: [Fold] = []
        var open: (start: Int, title: String, isOpen: Bool, isFlat: Bool, depth: Int)?
        func close(at end: Int) {
            guard let group = open else { return }
            open = nil
            // A title alone is nothing to fold.
            guard end - group.start > 1 else { return }
            let matters = important.contains { (group.start..<end).contains($0) }
            folds.append(Fold(lines: group.start..<end, title: group.title, isOpen: group.isOpen || matters))
        }
        for (place, line) in lines.enumerated() {
            guard let (mark, isFlat) = mark(line) else { continue }
            switch mark {
            case .start(let title, let isOpen):
                if let group = open, !group.isFlat, !isFlat {
                    // A group in a group is shown in it.
                    open?.depth = min(group.depth + 1, mostDepth)
                } else if open == nil || open?.isFlat == true {
                    close(at: place)
                    open = (place, title, isOpen, isFlat, 1)
                }
            case .end:
                guard let group = open, !group.isFlat else { continue }
                if group.depth > 1 { open?.depth -= 1 } else { close(at: place + 1) }
            }
        }
        close(at: lines.count)
        return folds
    }

    /// What a line says about groups: see the documentation of workflow commands (GitHub), of logging commands (Azure
    /// Pipelines), and of log output (Buildkite), collapsible sections (GitLab) and folds (Travis CI).
    ///
    /// - Returns: The mark, and whether such groups end where the next one begins.
    private static func mark(_ line: ArraySlice<UInt8>) -> (Mark, isFlat: Bool)? {
        guard let first = line.first, line.count < 4_000 else { return nil }
        switch first {
        case UInt8(ascii: ":"), UInt8(ascii: "#"), UInt8(ascii: "-"), UInt8(ascii: "+"), UInt8(ascii: "~"),
            UInt8(ascii: "s"), UInt8(ascii: "t"), 0x1B:
            break
        default: return nil
        }
        let text = String(decoding: line, as: UTF8.self)
        for start in ["::group::", "##[group]"] where text.hasPrefix(start) {
            return (.start(title: String(text.dropFirst(start.count)), isOpen: false), false)
        }
        if text.hasPrefix("::endgroup::") || text.hasPrefix("##[endgroup]") { return (.end, false) }
        for (start, isOpen) in [("--- ", false), ("+++ ", true), ("~~~ ", false)] where text.hasPrefix(start) {
            let title = text.dropFirst(4)
            // The head of a patch, a test of Go, or a table's line are no groups.
            let isOther =
                ["a/", "b/", "/dev/null", "FAIL", "PASS", "SKIP", "BENCH"].contains { title.hasPrefix($0) }
                || !title.contains { $0.isLetter }
            return isOther || title.contains("\t") ? nil : (.start(title: String(title), isOpen: isOpen), true)
        }
        return section(line)
    }

    /// `section_start:1560896352:name[collapsed=true]\r\e[0KTitle`, `travis_fold:start:name\r\e[0KTitle`.
    private static func section(_ line: ArraySlice<UInt8>) -> (Mark, isFlat: Bool)? {
        let parts = line.split(separator: 0x0D, maxSplits: 1).map { String(decoding: $0, as: UTF8.self) }
        guard let first = parts.first else { return nil }
        let plain = first.hasPrefix("\u{1B}[0K") ? first.dropFirst(4) : first[...]
        if plain.hasPrefix("section_end:") || plain.hasPrefix("travis_fold:end:") { return (.end, false) }
        let isTravis = plain.hasPrefix("travis_fold:start:")
        guard isTravis || plain.hasPrefix("section_start:") else { return nil }
        let names = plain.split(separator: ":", maxSplits: 2)
        let name = names.count > 2 ? String(names[2]) : ""
        var title = parts.count > 1 ? parts[1] : ""
        if title.hasPrefix("\u{1B}[0K") { title.removeFirst(4) }
        let isOpen = !isTravis && !name.contains("collapsed=true")
        return (.start(title: title.isEmpty ? String(name.prefix { $0 != "[" }) : title, isOpen: isOpen), false)
    }

    /// The long stretches between lines that matter.
    private static func stretches(_ count: Int, _ important: [Int]) -> [Fold] {
        guard count > longStretch + head + tail else { return [] }
        var folds: [Fold] = []
        var start = head
        let seen = important.filter { $0 >= 0 && $0 < count }.sorted()
        for next in seen.map({ $0 - around }) + [count - tail] {
            let end = min(next, count - tail)
            if end - start >= longStretch { folds.append(Fold(lines: start..<end, title: "")) }
            start = max(start, next + 2 * around + 1)
        }
        return folds
    }
}
