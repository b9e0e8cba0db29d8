import WorkflowPrograms
import Foundation
import TestBasics
import Testing

/// The id of a folder that is in no commit, compared with Git's.
@Suite(.timeLimit(.minutes(1))) struct WorkflowTreeTests {
    @Test func `the tree has the id that Git gives it`() async throws {
        let room = try TemporaryFolder()
        let folder = room.path
        let repository = try await TestRepository.make(at: folder)
        // A folder sorts as if its name ended with a slash: after "a-b" and "a.swift", before "a0".
        let contents: [(path: String, text: String, isExecutable: Bool)] = [
            ("a.swift", "let a = 1\n", false), ("a-b", "", false), ("a/one", "1", false),
            ("a/two/three", "é\0\n", true),
            ("a0", "0", false), ("Z", "z", true),
        ]
        for (path, text, isExecutable) in contents {
            let file = "\(folder)/workflows/\(path)"
            try FileManager.default.createDirectory(
                atPath: (file as NSString).deletingLastPathComponent, withIntermediateDirectories: true)
            try Data(text.utf8).write(to: URL(fileURLWithPath: file))
            if isExecutable { try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: file) }
        }
        try await repository.git("add", "-A")
        let written = try await repository.git("write-tree", "--prefix=workflows/")
        let sources = WorkflowSources(
            files: contents.shuffled().map {
                WorkflowFile(path: "workflows/\($0.path)", bytes: Array($0.text.utf8), isExecutable: $0.isExecutable)
            })
        #expect(sources.tree == written)
        #expect(sources.tree.count == 40)
    }
}
