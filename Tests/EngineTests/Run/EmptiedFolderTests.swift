import Foundation
import Testing

@testable import Engine

/// What is left of a run's folder when it is to be another run's.
struct EmptiedFolderTests {
    private let root = FileManager.default.temporaryDirectory.appending(path: "emptied-\(UUID())").path
    private var folder: String { "\(root)/live" }
    private var outside: String { "\(root)/outside" }

    private func write(_ text: String, to path: String) throws {
        let parent = (path as NSString).deletingLastPathComponent
        try FileManager.default.createDirectory(atPath: parent, withIntermediateDirectories: true)
        try Data(text.utf8).write(to: URL(fileURLWithPath: path))
    }

    private var left: [String] {
        (FileManager.default.enumerator(atPath: folder)?.compactMap { $0 as? String } ?? []).sorted()
    }

    @Test func nothingStaysThatStepsCouldWriteTo() throws {
        defer { try? FolderRemoval.remove(root) }
        try write("theirs\n", to: outside)
        for path in [
            "logs/one-1.log", "logs/.hidden/deep", "results/a/b.xml", "artifacts/0123", "fix/prompt", "tmp/x",
            "home/.cache/deep/er/file", "home/closed/file", "shown/values/review/diff", "shown/values/plain",
            "shown/published/1-one/value", "shown/more", "shown/passwd", "shown/group",
        ] { try write(path, to: "\(folder)/\(path)") }
        try write("{\"event\":\"pullRequest\"}", to: "\(folder)/shown/context.json")
        for name in ["home/link", "logs/link", "shown/values/link", "shown/published/link"] {
            try FileManager.default.createSymbolicLink(atPath: "\(folder)/\(name)", withDestinationPath: outside)
        }
        try FileManager.default.createSymbolicLink(atPath: "\(folder)/folder", withDestinationPath: root)
        try FileManager.default.linkItem(atPath: outside, toPath: "\(folder)/home/hard")
        for name in ["home/closed", "home", "shown/published"] { #expect(chmod("\(folder)/\(name)", 0) == 0) }

        try RunSetting.empty(folder: folder)

        #expect(left == ["logs", "shown", "shown/group", "shown/passwd", "shown/values"])
        #expect(try String(contentsOfFile: "\(folder)/shown/passwd", encoding: .utf8) == "shown/passwd")
        #expect(try String(contentsOfFile: outside, encoding: .utf8) == "theirs\n", "what links lead to stays")
    }

    /// The workspace of a failed run is kept with what belongs to it.
    @Test func whatWasMovedAwayIsNotMissed() throws {
        defer { try? FolderRemoval.remove(root) }
        try write("said", to: "\(folder)/logs/one-1.log")
        try write("x", to: "\(folder)/shown/passwd")
        try RunSetting.empty(folder: folder)
        #expect(left == ["logs", "shown", "shown/passwd"])
    }

    @Test func aLinkInThePlaceOfAFolderIsNotFollowed() throws {
        defer { try? FolderRemoval.remove(root) }
        try write("theirs\n", to: "\(root)/elsewhere/file")
        try write("x", to: "\(folder)/shown/passwd")
        try FileManager.default.createSymbolicLink(
            atPath: "\(folder)/logs", withDestinationPath: "\(root)/elsewhere")
        #expect(throws: (any Error).self) { try RunSetting.empty(folder: folder) }
        #expect(FileManager.default.fileExists(atPath: "\(root)/elsewhere/file"))
    }
}
