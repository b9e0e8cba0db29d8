import Foundation
import TestSupport

/// Writes Git objects without the checks of Git's own commands.
struct RawObjects {
    let bench: Bench

    /// One entry of a tree: the mode as text, the name as bytes, the object's id.
    struct Entry {
        var mode: String
        var name: [UInt8]
        var id: String

        static func blob(_ name: String, _ id: String) -> Entry {
            Entry(mode: "100644", name: Array(name.utf8), id: id)
        }
        static func link(_ name: String, _ id: String) -> Entry {
            Entry(mode: "120000", name: Array(name.utf8), id: id)
        }
        static func tree(_ name: String, _ id: String) -> Entry { Entry(mode: "40000", name: Array(name.utf8), id: id) }
        static func gitlink(_ name: String, _ id: String) -> Entry {
            Entry(mode: "160000", name: Array(name.utf8), id: id)
        }
    }

    func write(_ type: String, _ bytes: [UInt8]) async throws -> String {
        let file = "\(bench.root)/object"
        try Data(bytes).write(to: URL(fileURLWithPath: file))
        return try await bench.git(["hash-object", "-t", type, "-w", "--literally", file])
    }

    func blob(_ text: String) async throws -> String { try await write("blob", Array(text.utf8)) }

    /// The entries in the given order. Git requires sorted ones, which hostile trees need not have.
    func tree(_ entries: [Entry]) async throws -> String {
        var bytes: [UInt8] = []
        for entry in entries {
            bytes += Array("\(entry.mode) ".utf8) + entry.name + [0]
            var rest = Substring(entry.id)
            while let byte = UInt8(rest.prefix(2), radix: 16) {
                bytes.append(byte)
                rest = rest.dropFirst(2)
            }
        }
        return try await write("tree", bytes)
    }

    /// A commit on top of main, with the lines between `parent` and the message as given.
    func commit(
        _ tree: String, people: String = "author A <a@b> 1700000000 +0000\ncommitter A <a@b> 1700000000 +0000\n",
        message: String = "Hostile\n"
    ) async throws -> String {
        let parent = try await bench.git(["rev-parse", "main"])
        return try await write("commit", Array("tree \(tree)\nparent \(parent)\n\(people)\n\(message)".utf8))
    }
}
