import Pipeline

/// Rules that depend only on the paths that a change touches and on its size.
struct PathRules {
    let rules: [IntegrityRule]

    func breaches(of files: [ChangedSource]) -> [Breach] {
        rules.flatMap { rule -> [Breach] in
            // Validation reported this before. A rule with an unreadable pattern must never count as satisfied.
            if let glob = rule.globs.first(where: { (try? Glob($0)) == nil }) {
                return [
                    Breach(.touchedPath, .unclear, message: "the rule's pattern \"\(glob)\" can't be read", file: "")
                ]
            }
            switch rule {
            case .untouched(let globs): return touched(files, globs)
            case .companions(let globs, let companions): return missing(files, globs, companions)
            case .atMost(let lines, let count): return size(files, lines, count)
            default: return []
            }
        }
    }

    private func touched(_ files: [ChangedSource], _ globs: [String]) -> [Breach] {
        files.compactMap { file in
            // Check old paths too: moving a file must not take it out of a rule's reach.
            let paths = [file.path, file.oldPath].compactMap { $0 }
            if let glob = Self.match(paths, globs) {
                return Breach(
                    .touchedPath, message: "\(file.path) is changed, which \"\(glob)\" forbids", file: file.path)
            }
            guard let glob = Self.first(globs, where: { paths.contains(where: $0.isCheckedOut) }) else { return nil }
            return Breach(
                .touchedPath,
                message: "\(file.path) is changed, which controls how files that match \"\(glob)\" are checked out",
                file: file.path)
        }
    }

    private func missing(_ files: [ChangedSource], _ globs: [String], _ companions: [String]) -> [Breach] {
        let changed = files.filter { Self.match([$0.path], globs) != nil && Self.match([$0.path], companions) == nil }
        guard let first = changed.first, !files.contains(where: { Self.match([$0.path], companions) != nil }) else {
            return []
        }
        let more = changed.count > 1 ? " and \(changed.count - 1) more" : ""
        let wanted = companions.joined(separator: ", ")
        return [
            Breach(
                .missingCompanion, message: "\(first.path)\(more) changed, but nothing that matches \(wanted)",
                file: first.path)
        ]
    }

    private func size(_ files: [ChangedSource], _ lines: Int, _ count: Int?) -> [Breach] {
        let sum = files.reduce(0) { $0 + $1.additions + $1.deletions }
        guard let largest = files.max(by: { $0.additions + $0.deletions < $1.additions + $1.deletions }) else {
            return []
        }
        var breaches: [Breach] = []
        if sum > lines {
            breaches.append(
                Breach(
                    .largeChange, message: "it adds and removes \(sum) lines; the limit is \(lines)", file: largest.path
                ))
        }
        if let count, files.count > count {
            breaches.append(
                Breach(
                    .largeChange, message: "it changes \(files.count) files; the limit is \(count)", file: largest.path)
            )
        }
        return breaches
    }

    /// Snapshots that were edited although no source changed that they could record.
    static func loneSnapshots(_ files: [ChangedSource]) -> [Breach] {
        let edited = files.filter { TestPaths.isSnapshot($0.path) && Self.isThere($0.old) }
        guard !edited.isEmpty, !files.contains(where: { TestPaths.isSource($0.path) }) else { return [] }
        return edited.prefix(20).map {
            Breach(.loneSnapshot, message: "\($0.path) is edited or removed, but no source file is", file: $0.path)
        }
    }

    private static func isThere(_ content: ChangedSource.Content) -> Bool {
        if case .missing = content { false } else { true }
    }

    private static func match(_ paths: [String], _ globs: [String]) -> String? {
        first(globs) { pattern in paths.contains { pattern.matches($0) } }
    }

    private static func first(_ globs: [String], where isFitting: (Glob) -> Bool) -> String? {
        globs.first { glob in (try? Glob(glob)).map(isFitting) ?? false }
    }
}
