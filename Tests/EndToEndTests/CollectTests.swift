import TestBasics
import Store
import Results
import Foundation
import TestSupport
import Testing

/// `pipectl gc` removes the stores of deleted clones.
struct CollectTests {
    private struct Reply: Decodable {
        struct Store: Decodable { var name: String }
        var stores: [Store]
    }

    @Test(.timeLimit(.minutes(6)))
    func `the store of a deleted clone goes, and only then`() async throws {
        try await Bench.with(["README.md": "hello\n"]) { bench in
            let names = ["repo.clone-0123456789ab.git", "repo.clone-ba9876543210.git"]
            for (name, clone) in zip(names, ["\(bench.root)/gone/.git", "\(bench.repository)/.git"]) {
                let info = "\(bench.home)/mirrors/\(name)/objects/info"
                try FileManager.default.createDirectory(
                    atPath: info, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
                try Data("\(clone)/objects\n".utf8).write(to: URL(fileURLWithPath: "\(info)/alternates"))
            }
            func gc(_ option: String...) async throws -> [String] {
                let ended = try await bench.command(
                    [Bench.pipectl, "gc", "--max-runs", "10", "--json"] + option, in: bench.repository)
                #expect(ended.code == 0, "\(ended.errors)")
                return try JSONDecoder().decode(Reply.self, from: Data(ended.output.utf8)).stores.map(\.name)
            }
            func left() throws -> [String] {
                try FileManager.default.contentsOfDirectory(atPath: "\(bench.home)/mirrors").sorted()
            }
            #expect(try await gc("--dry-run") == [names[0]])
            #expect(try left() == names)
            #expect(try await gc() == [names[0]])
            #expect(try left() == [names[1]])
            #expect(try await gc() == [])
        }
    }
}
