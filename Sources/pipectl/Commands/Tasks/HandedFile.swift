import Foundation
import Results
import TerminalText

/// Files that a person hands over, each of limited size.
enum HandedFile {
    /// A regular file with its name.
    static func read(_ path: String, atMost limit: Int) throws -> TaskDraft.File {
        let shown = TerminalText.name(path)
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder), !isFolder.boolValue,
            let file = FileHandle(forReadingAtPath: path)
        else { throw CommandEnd(code: 2, message: "\(shown) can't be read; name a file") }
        defer { try? file.close() }
        let content = try bytes(of: file, shown, limit)
        return TaskDraft.File(name: URL(fileURLWithPath: path).lastPathComponent, content: content)
    }

    /// The text that another program writes.
    static func standardInput(atMost limit: Int) throws -> String {
        let content = try bytes(of: .standardInput, "standard input", limit)
        guard let text = String(validating: content, as: UTF8.self) else {
            throw CommandEnd(code: 2, message: "standard input is not UTF-8; send text, and files with --file")
        }
        return text
    }

    private static func bytes(of file: FileHandle, _ name: String, _ limit: Int) throws -> Data {
        var content = Data()
        while let piece = try file.read(upToCount: 1 << 16), !piece.isEmpty {
            content += piece
            guard content.count <= limit else {
                throw CommandEnd(
                    code: 2,
                    message: "\(name) has more than the \(limit) bytes that are taken; hand over the part that matters")
            }
        }
        return content
    }
}
