/// Finds the files that tell agents how to work in a repository, and what those include.
///
/// Agents read AGENTS.md and CLAUDE.md at the root and in the folders of the files that they touch; the nearest one
/// counts most. A word `@path` outside of code brings another file in, relative to the file that names it.
package enum AgentFiles {
    /// The names of such files, in the order in which those of one folder are given on.
    package static let names = ["AGENTS.md", "CLAUDE.md", ".claude/CLAUDE.md"]

    package enum Limit {
        /// How deep files include one another.
        package static let depth = 5
        package static let files = 50
        package static let fileBytes = 64 << 10
        package static let bytes = 256 << 10
        /// Words `@path` of one file.
        static let includes = 100
        static let folders = 500
    }

    /// The files, those of the root first, each followed by what it includes.
    ///
    /// - Parameters:
    ///   - touched: The paths that are worked on, or globs: their folders count as far as they are named.
    ///   - exists: Whether the repository has a regular file at this path.
    ///   - read: The beginning of a file, at most so many bytes; nil if it can't be read.
    package static func find(
        touching touched: [String], exists: (String) -> Bool, read: (_ path: String, _ atMost: Int) throws -> [UInt8]?
    ) rethrows -> [InstructionFile] {
        var search = Search()
        for folder in folders(of: touched) {
            for name in names {
                try search.add(folder.isEmpty ? name : "\(folder)/\(name)", depth: 0, exists, read)
            }
        }
        return search.found
    }

    /// The root and the folders above the paths, outer ones first.
    private static func folders(of paths: [String]) -> [String] {
        var folders: Set<String> = [""]
        for path in paths {
            var folder = ""
            for part in path.split(separator: "/").dropLast() {
                guard part != "..", part != ".", !part.contains(where: { "*?[{\\".contains($0) }) else { break }
                folder += folder.isEmpty ? "\(part)" : "/\(part)"
                guard folders.count < Limit.folders else { break }
                folders.insert(folder)
            }
        }
        return folders.sorted { one, other in
            let (first, second) = (one.split(separator: "/").count, other.split(separator: "/").count)
            return first == second ? one < other : first < second
        }
    }

    private struct Search {
        var found: [InstructionFile] = []
        var seen: Set<String> = []
        var bytes = 0

        mutating func add(
            _ path: String, by includer: String? = nil, depth: Int, _ exists: (String) -> Bool,
            _ read: (String, Int) throws -> [UInt8]?
        ) rethrows {
            let room = min(Limit.fileBytes, Limit.bytes - bytes)
            guard found.count < Limit.files, room > 0, exists(path), seen.insert(path).inserted,
                let content = try read(path, room + 1), !content.contains(0)
            else { return }
            let isCut = content.count > room
            let text = String(decoding: content.prefix(room), as: UTF8.self)
            // CLAUDE.md often is a link to AGENTS.md, or its copy.
            guard text.allSatisfy(\.isWhitespace) || !found.contains(where: { $0.text == text }) else { return }
            bytes += min(content.count, room)
            found.append(InstructionFile(path: path, text: text, includedBy: includer, isCut: isCut))
            guard depth < Limit.depth else { return }
            for word in Includes.words(of: text).prefix(Limit.includes) {
                guard let included = Includes.path(word, in: path) else { continue }
                try add(included, by: path, depth: depth + 1, exists, read)
            }
        }
    }
}

/// The words `@path` of a file in Markdown.
package enum Includes {
    /// Without the `@`, in their order; those in code are left out.
    static func words(of text: String) -> [String] {
        var words: [String] = []
        var fence: (mark: Character, count: Int)?
        for line in text.feedLines {
            let body = line.drop { $0 == " " || $0 == "\t" }
            if let mark = body.first, mark == "`" || mark == "~" {
                let count = body.prefix { $0 == mark }.count
                if let open = fence {
                    let rest = body.dropFirst(count).allSatisfy(\.isWhitespace)
                    if mark == open.mark, count >= open.count, rest { fence = nil }
                    continue
                } else if count >= 3 {
                    fence = (mark, count)
                    continue
                }
            }
            if fence == nil { words += self.words(ofLine: withoutCode(line[...])) }
        }
        return words
    }

    private static func words(ofLine line: String) -> [String] {
        line.split(whereSeparator: \.isWhitespace).compactMap { word in
            guard word.first == "@", word.count > 1 else { return nil }
            var path = word.dropFirst()
            while let last = path.last, ",;:!?)".contains(last) || last == "." { path = path.dropLast() }
            return path.isEmpty ? nil : String(path)
        }
    }

    /// The line without what stands between equal numbers of backquotes.
    private static func withoutCode(_ line: Substring) -> String {
        var result = ""
        var rest = line
        while let start = rest.firstIndex(of: "`") {
            result += rest[..<start]
            let ticks = rest[start...].prefix { $0 == "`" }
            let after = rest[ticks.endIndex...]
            guard let end = closing(ticks.count, in: after) else {
                result += ticks
                rest = after
                continue
            }
            result += " "
            rest = after[end...]
        }
        return result + rest
    }

    /// The end of the first run of exactly so many backquotes.
    private static func closing(_ count: Int, in text: Substring) -> Substring.Index? {
        var rest = text
        while let start = rest.firstIndex(of: "`") {
            let ticks = rest[start...].prefix { $0 == "`" }
            if ticks.count == count { return ticks.endIndex }
            rest = rest[ticks.endIndex...]
        }
        return nil
    }

    /// The path below the root that a word, or a symbolic link, names in a file; nil for one that leads out of the
    /// repository.
    package static func path(_ word: String, in file: String) -> String? {
        guard !word.hasPrefix("/"), !word.hasPrefix("~"), !word.contains("\\"), word.utf8.count <= 1_000 else {
            return nil
        }
        var parts = file.split(separator: "/").dropLast().map(String.init)
        for part in word.split(separator: "/") {
            switch part {
            case ".": continue
            case "..": if parts.popLast() == nil { return nil }
            default: parts.append(String(part))
            }
        }
        return parts.isEmpty ? nil : parts.joined(separator: "/")
    }
}
