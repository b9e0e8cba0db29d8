import Engine
import Foundation
import Git
import Pipeline
import Testing

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

@testable import BuildBox

/// What becomes of the files that steps wrote when their layer is sealed.
struct LayerSealingTests {
    private struct Bench {
        let root: String
        var layer: String { "\(root)/layer" }

        func git(_ arguments: String...) async throws -> String {
            let who = ["-c", "user.name=Ada", "-c", "user.email=ada@example.com"]
            let result = try await Tool("git", who + ["-C", "\(root)/repo"] + arguments, deadline: .seconds(100)).run()
            try #require(result.succeeded, "\(result.text)")
            return result.text.trimmingCharacters(in: .whitespacesAndNewlines)
        }

        func write(_ path: String, _ text: String) throws {
            let url = URL(fileURLWithPath: "\(root)/\(path)")
            try FileManager.default.createDirectory(
                at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data(text.utf8).write(to: url)
        }

        func has(_ path: String) -> Bool {
            (try? FileManager.default.attributesOfItem(atPath: "\(layer)/\(path)")) != nil
        }

        /// The repository's own files stand for the layers below.
        func seal(results: [String] = []) async throws {
            let tree = try #require(OID(hex: try await git("rev-parse", "HEAD^{tree}")))
            let (user, group) = (UInt32(geteuid()), UInt32(getegid()))
            let sealing = LayerSealing(
                layer: Layer(path: layer, owner: user, group: group),
                lower: [Layer(path: "\(root)/repo", owner: user, group: group)],
                results: try results.map { try Glob($0) })
            try sealing.seal(tree: tree, in: try Repository(opening: "\(root)/repo"))
        }

        func text(_ path: String) -> String? { try? String(contentsOfFile: "\(layer)/\(path)", encoding: .utf8) }
    }

    /// A repository with `a.txt`, `run.sh` (executable), `link` and `Sources/main.c`, and an empty layer.
    private func withBench(_ body: (Bench) async throws -> Void) async throws {
        let root = FileManager.default.temporaryDirectory.path + "/pipectl-sealing-\(UInt64.random(in: 0 ... .max))"
        let bench = Bench(root: root)
        for folder in ["repo", "layer"] {
            try FileManager.default.createDirectory(atPath: "\(root)/\(folder)", withIntermediateDirectories: true)
        }
        defer { try? FileManager.default.removeItem(atPath: root) }
        _ = try await bench.git("init", "-q", "-b", "main")
        try bench.write("repo/a.txt", "a\n")
        try bench.write("repo/run.sh", "#!/bin/sh\n")
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: "\(root)/repo/run.sh")
        try FileManager.default.createSymbolicLink(atPath: "\(root)/repo/link", withDestinationPath: "a.txt")
        try bench.write("repo/Sources/main.c", "int main;\n")
        _ = try await bench.git("add", "-A")
        _ = try await bench.git("commit", "-q", "-m", "Begin")
        try await body(bench)
    }

    @Test func buildProductsStayAndTrackedFilesAreAsTheCommitHasThem() async throws {
        try await withBench { bench in
            let start = Date(timeIntervalSinceNow: -1)
            try FileManager.default.setAttributes(
                [.modificationDate: Date(timeIntervalSinceNow: -1_000)], ofItemAtPath: "\(bench.root)/repo/a.txt")
            try bench.write("layer/.build/out.o", "object")
            try bench.write("layer/Sources/generated.c", "made")
            try bench.write("layer/a.txt", "changed by a step")
            try bench.write("layer/Sources/main.c/deep/file", "a folder where the tree has a file")
            try bench.write("layer/run.sh", "#!/bin/sh\n")
            try bench.write("layer/.git/hooks/post-checkout", "hostile")
            try await bench.seal()
            #expect(bench.has(".build/out.o") && bench.has("Sources/generated.c"))
            #expect(!bench.has(".git"))
            #expect(!bench.has("run.sh"), "touched, and not changed: it shows through with its own time")
            // What was built from the step's version must be built again, so these are new.
            for (path, text) in [("a.txt", "a\n"), ("Sources/main.c", "int main;\n")] {
                #expect(bench.text(path) == text)
                let facts = try FileManager.default.attributesOfItem(atPath: "\(bench.layer)/\(path)")
                let changed = try #require(facts[.modificationDate] as? Date)
                #expect(changed > start, "\(path)")
            }
        }
    }

    @Test func aFileWhereTheTreeHasAFolderIsNoBase() async throws {
        try await withBench { bench in
            try bench.write("layer/Sources", "no folder")
            await #expect(throws: LayerSealing.Obstacle.self) { try await bench.seal() }
        }
    }

    @Test func linksAreRemovedAndNeverFollowed() async throws {
        try await withBench { bench in
            try bench.write("outside/main.c", "precious")
            for (link, target) in [("a.txt", "outside/main.c"), ("link", "outside")] {
                try FileManager.default.createSymbolicLink(
                    atPath: "\(bench.layer)/\(link)", withDestinationPath: "\(bench.root)/\(target)")
            }
            try FileManager.default.createSymbolicLink(
                atPath: "\(bench.layer)/untracked", withDestinationPath: "\(bench.root)/outside")
            try await bench.seal(results: ["**/*.c"])
            #expect(!bench.has("link") && bench.has("untracked"))
            #expect(bench.text("a.txt") == "a\n")
            #expect(try String(contentsOfFile: "\(bench.root)/outside/main.c", encoding: .utf8) == "precious")
        }
    }

    @Test func resultsAreNotLeftForTheNextRun() async throws {
        try await withBench { bench in
            try bench.write("layer/out/results/unit.xml", "<testsuites/>")
            try bench.write("layer/out/tool", "binary")
            try await bench.seal(results: ["out/results/*.xml"])
            #expect(!bench.has("out/results/unit.xml") && bench.has("out/tool"))
        }
    }
}
