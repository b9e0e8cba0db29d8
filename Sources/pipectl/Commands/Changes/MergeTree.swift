import ArgumentParser
import Client
import Foundation
import Git
import Watching

/// Merges commits in the same way as runs do, and prints each result; for `script/merge-history`.
struct MergeTree: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "merge-tree", abstract: "Merges pairs of commits as a run would, and prints JSON lines.",
        discussion: "Reads lines TARGET HEAD with commit ids from standard input.", shouldDisplay: false)

    @Option(help: "The repository.") var folder = "."
    @Flag(help: "Merge with libgit2 although Git could.") var libgit2 = false

    private struct Row: Encodable {
        var target: String, head: String, milliseconds: Double
        var tree: String?, conflicts: [MergeConflict]?, error: String?
    }

    func run() async throws {
        let merger = libgit2 ? ChangeMerger.libgit2 : try await ChangeMerger.find()
        let scratch = FileManager.default.temporaryDirectory.appendingPathComponent("pipectl-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: scratch) }
        let folder = folder
        let store = "\(scratch)/store.git"
        try await withRepository(at: folder) { _ = try Repository.create(bareAt: store, borrowing: $0.gitDirectory) }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        while let line = readLine() {
            let ids = line.split(separator: " ").compactMap { OID(hex: String($0)) }
            guard ids.count == 2 else { throw CommandEnd(code: 2, message: "\"\(line)\" is not TARGET HEAD") }
            let clock = ContinuousClock()
            let start = clock.now
            var row = Row(target: ids[0].hex, head: ids[1].hex, milliseconds: 0)
            do {
                switch try await merger.merge(MergePair(ids[1], into: ids[0]), storingIn: store) {
                case .merged(let tree): row.tree = tree.hex
                case .conflicts(let conflicts): row.conflicts = conflicts
                }
            } catch { row.error = "\(error)" }
            row.milliseconds = (clock.now - start) / .milliseconds(1)
            Terminal.print(String(decoding: try encoder.encode(row), as: UTF8.self))
        }
    }
}
