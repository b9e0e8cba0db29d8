import Foundation
import Git

extension CrashCode {
    /// Finds the last commits of the passages' files, and which of them last changed the passages. It blocks.
    mutating func findChanges(_ repository: Repository, _ commit: OID, _ contents: [String: [String]]) throws {
        var files: [String] = []
        for passage in passages where !files.contains(passage.place.file) { files.append(passage.place.file) }
        guard !files.isEmpty else { return }
        var found: [String: [Change]] = [:]
        var open = Set(passages.indices)
        var entries: [String: OID] = [:]
        for file in files { entries[file] = try repository.entry(file, at: commit)?.id }
        for one in try repository.log(from: commit, limit: mostCommits, firstParent: true) {
            guard entries.contains(where: { found[$0.key, default: []].count < mostChanges }) || !open.isEmpty else {
                break
            }
            for file in files {
                guard let now = entries[file] else { continue }
                let before = try one.parents.first.flatMap { try repository.entry(file, at: $0)?.id }
                guard before != now else { continue }
                let change = Change(
                    commit: one.id.hex, at: one.committer.time, author: one.author.name, summary: one.summary)
                if found[file, default: []].count < mostChanges { found[file, default: []].append(change) }
                let older = try before.flatMap { try repository.smallBlob($0) } ?? ""
                for index in open where passages[index].place.file == file {
                    if older.contains(core(of: passages[index])) { continue }
                    passages[index].lastChange = one.id.hex
                    open.remove(index)
                }
                entries[file] = before
            }
        }
        changes = files.compactMap { file in found[file].map { (file, $0) } }
    }

    /// First parents that are compared for changes of a file.
    private var mostCommits: Int { 2_000 }
    private var mostChanges: Int { 5 }

    /// The line of the call with two around it, which a commit that changed it must not have had.
    private func core(of passage: Passage) -> String {
        guard let line = passage.place.line else { return "" }
        let middle = line - passage.first
        let range = max(0, middle - 1)...min(passage.lines.count - 1, middle + 1)
        return passage.lines[range].joined(separator: "\n")
    }

    /// Says so if a later release does not have the line any more at which the program crashed. It blocks.
    mutating func compare(with later: OID, version: String, in repository: Repository) throws {
        guard let passage = passages.first, !passage.place.isGuessed, let line = passage.place.line,
            passage.place == places.compactMap({ $0 }).first
        else { return }
        let text = passage.lines[line - passage.first].trimmingCharacters(in: .whitespaces)
        // A bracket is everywhere, so it says nothing.
        guard text.count >= 8 else { return }
        guard let entry = try repository.entry(passage.place.file, at: later) else {
            outdated = LookedUpCrash.Outdated(
                version: version, reason: "Version \(version) has no \(passage.place.file) any more.")
            return
        }
        guard let content = try repository.smallBlob(entry.id) else { return }
        if !content.contains(text) {
            outdated = LookedUpCrash.Outdated(
                version: version,
                reason: "Version \(version) has other code where \(passage.place.file):\(line) crashed.")
        }
    }
}

extension Repository {
    /// The text of a file; nil for a large one.
    fileprivate func smallBlob(_ id: OID) throws -> String? {
        guard try size(of: id) <= 2 << 20 else { return nil }
        return String(decoding: try blob(id, atMost: 2 << 20), as: UTF8.self)
    }
}
