import TestBasics
import Foundation
import Git
import Pipeline
import Testing

#if canImport(Darwin)
    import Darwin
#else
    import CLinux
    import Glibc
#endif

import Sandbox
@testable import Layers

/// What happens to files that steps wrote when their layer is sealed.
struct LayerSealingTests {
    private struct Bench {
        let root: String
        var layer: String { "\(root)/layer" }

        func git(_ arguments: String...) async throws -> String {
            try await TestRepository(at: "\(root)/repo").git(arguments)
        }

        /// Uses the index alone, as scripts do to check whether a tree is dirty.
        func looksUnchanged() async throws -> Bool {
            (try? await git("diff-index", "--quiet", "HEAD")) != nil
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

        /// The repository's own files take the place of the layers below.
        @discardableResult func seal(results: [String] = []) async throws -> [WrittenFile] {
            let tree = try #require(OID(hex: try await git("rev-parse", "HEAD^{tree}")))
            let (user, group) = (UInt32(geteuid()), UInt32(getegid()))
            let sealing = LayerSealing(
                layer: Layer(path: layer, owner: user, group: group),
                lower: [Layer(path: "\(root)/repo", owner: user, group: group)],
                results: try results.map { try Glob($0) })
            return try sealing.seal(tree: tree, in: try Repository(opening: "\(root)/repo"))
        }

        func time(_ path: String) throws -> Date {
            let facts = try FileManager.default.attributesOfItem(atPath: "\(root)/\(path)")
            return try #require(facts[.modificationDate] as? Date)
        }

        func set(_ time: Date, of path: String) throws {
            try FileManager.default.setAttributes([.modificationDate: time], ofItemAtPath: "\(root)/\(path)")
        }

        func text(_ path: String) -> String? { try? String(contentsOfFile: "\(layer)/\(path)", encoding: .utf8) }
    }

    /// A repository with `a.txt`, `run.sh` (executable), `link` and `Sources/main.c`, and an empty layer.
    private func withBench(_ body: (Bench) async throws -> Void) async throws {
        let room = try TemporaryFolder(.disk)
        let root = room.path
        let bench = Bench(root: root)
        for folder in ["repo", "layer"] { try room.folder(folder) }
        defer { withExtendedLifetime(room) {} }
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

    @Test func `build products stay and tracked files have the commit's content`() async throws {
        try await withBench { bench in
            let start = Date(timeIntervalSinceNow: -1)
            try FileManager.default.setAttributes(
                [.modificationDate: Date(timeIntervalSinceNow: -1_000)], ofItemAtPath: "\(bench.root)/repo/a.txt")
            try bench.write("layer/.build/out.o", "object")
            try bench.write("layer/Sources/generated.c", "made")
            try bench.write("layer/a.txt", "changed by a step")
            try bench.write("layer/Sources/main.c/deep/file", "a folder where the tree has a file")
            try bench.write("layer/.git/hooks/post-checkout", "hostile")
            let restored = try await bench.seal()
            #expect(bench.has(".build/out.o") && bench.has("Sources/generated.c"))
            #expect(!bench.has(".git"))
            #expect(Set(restored.map { String(decoding: $0.path, as: UTF8.self) }) == ["a.txt", "Sources/main.c"])
            // Products that were built from the step's version must be built again, so these files are new.
            for (path, text) in [("a.txt", "a\n"), ("Sources/main.c", "int main;\n")] {
                #expect(bench.text(path) == text)
                let facts = try FileManager.default.attributesOfItem(atPath: "\(bench.layer)/\(path)")
                let changed = try #require(facts[.modificationDate] as? Date)
                #expect(changed > start, "\(path)")
            }
        }
    }

    /// Products built in between come from another content and are older than the restored file, whatever time it was
    /// given. Products built later do not.
    @Test(arguments: [1_700_000_000, 1_700_000_100, 1_600_000_000])
    func `a file that a step restored has the time of that`(given: Double) async throws {
        try await withBench { bench in
            try bench.set(Date(timeIntervalSince1970: 1_700_000_000), of: "repo/run.sh")
            try bench.write("layer/before", "built")
            try bench.write("layer/run.sh", "#!/bin/sh\n")
            try await waitForClock(after: "layer/before", bench)
            try bench.set(Date(timeIntervalSince1970: given), of: "layer/run.sh")
            try bench.write("layer/between", "built")
            try await waitForClock(after: "layer/between", bench)
            try bench.write("layer/after", "built")
            let restored = try await bench.seal()
            let time = try bench.time("layer/run.sh")
            #expect(try bench.time("layer/before") < time && time < bench.time("layer/after"))
            #expect(FileManager.default.isExecutableFile(atPath: "\(bench.layer)/run.sh"))
            #expect(restored.map(\.modified.seconds) == [Int(time.timeIntervalSince1970)])
        }
    }

    #if os(Linux)
        /// The kernel copies a file up for such a change and reports that; moving a file changes its folder.
        @Test(arguments: [true, false]) func `a change of the mode alone is none`(isMoved: Bool) async throws {
            try await withBench { bench in
                let old = Date(timeIntervalSince1970: 1_700_000_000)
                try bench.set(old, of: "repo/run.sh")
                try bench.write("layer/run.sh", "#!/bin/sh\n")
                try #require(setxattr("\(bench.layer)/run.sh", "user.overlay.origin", "", 0, 0) == 0)
                try bench.set(old, of: "layer/run.sh")
                try bench.set(old, of: "repo")
                try bench.set(isMoved ? Date(timeIntervalSince1970: 1_700_000_001) : old, of: "layer")
                let restored = try await bench.seal()
                #expect(bench.has("run.sh") == isMoved)
                #expect(restored.count == (isMoved ? 1 : 0))
            }
        }
    #endif

    /// Waits until a file that is changed now is newer than this one: file times have the resolution of the clock tick.
    private func waitForClock(after path: String, _ bench: Bench) async throws {
        let start = try bench.time(path)
        try await eventually("a tick of the clock of files") {
            try bench.write("probe", "")
            return try bench.time("probe") > start
        }
    }

    /// Otherwise make would take old products as newer than files that a change writes.
    @Test func `no file has a time in the future`() async throws {
        try await withBench { bench in
            let future = Date(timeIntervalSinceNow: 600)
            try bench.write("layer/.build/deep/out.o", "object")
            try bench.write("layer/a.txt", "a\n")
            let old = Date(timeIntervalSince1970: 1_700_000_000)
            try bench.write("layer/old.o", "object")
            try bench.set(old, of: "layer/old.o")
            for path in ["layer/.build/deep/out.o", "layer/.build/deep", "layer/a.txt"] {
                try bench.set(future, of: path)
            }
            let restored = try await bench.seal()
            for path in ["layer/.build/deep/out.o", "layer/.build/deep", "layer/a.txt"] {
                #expect(try bench.time(path) <= Date(), "\(path)")
            }
            #expect(try bench.time("layer/old.o") == old)
            #expect(restored.allSatisfy { Double($0.modified.seconds) <= Date().timeIntervalSince1970 })
        }
    }

    @Test func `the index has the times of rewritten files`() async throws {
        try await withBench { bench in
            try bench.set(Date(timeIntervalSince1970: 1_700_000_000), of: "repo/Sources/main.c")
            _ = try await bench.git("update-index", "--refresh")
            try bench.write("layer/Sources/main.c", "a step's")
            let restored = try await bench.seal()
            try Repository.writeIndex(
                patching: "\(bench.root)/repo/.git/index", with: restored, to: "\(bench.root)/index")
            // The layer over the repository, as a run sees them.
            try FileManager.default.removeItem(atPath: "\(bench.root)/repo/Sources/main.c")
            try FileManager.default.moveItem(
                atPath: "\(bench.layer)/Sources/main.c", toPath: "\(bench.root)/repo/Sources/main.c")
            _ = try await bench.git("config", "core.checkStat", "minimal")
            _ = try await bench.git("config", "core.trustctime", "false")
            #expect(try await !bench.looksUnchanged())
            try FileManager.default.removeItem(atPath: "\(bench.root)/repo/.git/index")
            try FileManager.default.moveItem(atPath: "\(bench.root)/index", toPath: "\(bench.root)/repo/.git/index")
            #expect(try await bench.looksUnchanged())
        }
    }

    /// Git's own data of it is in a `.git` that is removed.
    @Test(arguments: ["folder", "link", "file"]) func `a submodule is an empty folder again`(kind: String) async throws
    {
        try await withBench { bench in
            let commit = try await bench.git("rev-parse", "HEAD")
            _ = try await bench.git("update-index", "--add", "--cacheinfo", "160000,\(commit),sub")
            _ = try await bench.git("commit", "-q", "-m", "Add a submodule")
            switch kind {
            case "folder":
                try bench.write("layer/sub/.git", "gitdir: ../.git/modules/sub\n")
                try bench.write("layer/sub/code.c", "int code;\n")
            case "link":
                try FileManager.default.createSymbolicLink(
                    atPath: "\(bench.layer)/sub", withDestinationPath: "/nowhere")
            default: try bench.write("layer/sub", "no folder")
            }
            try await bench.seal()
            #expect(!bench.has("sub"), "the empty one below shows through")
        }
    }

    @Test func `a workspace with a changed link is no snapshot`() async throws {
        try await withBench { bench in
            try FileManager.default.createSymbolicLink(
                atPath: "\(bench.layer)/link", withDestinationPath: "run.sh")
            await #expect(throws: LayerSealing.Obstacle.self) { try await bench.seal() }
        }
    }

    /// As Swift strings both names are equal.
    @Test func `names are compared by their bytes`() async throws {
        try await withBench { bench in
            let names = ["\u{E9}", "e\u{301}"]
            for name in names { try bench.write("repo/\(name)/b.txt", "b\n") }
            try bench.write("repo/\(names[0])/only.txt", "only\n")
            _ = try await bench.git("add", "-A")
            _ = try await bench.git("commit", "-q", "-m", "Two names")
            let here = try FileManager.default.contentsOfDirectory(atPath: "\(bench.root)/repo")
            // Some file systems treat the two as one.
            guard here.count(where: { names.contains($0) }) == 2 else { return }
            for name in names { try bench.write("layer/\(name)/b.txt", "a step's") }
            try bench.write("layer/\(names[0])/only.txt", "a step's")
            try await bench.seal()
            #expect(bench.text("\(names[0])/b.txt") == "b\n" && bench.text("\(names[1])/b.txt") == "b\n")
            #expect(bench.text("\(names[0])/only.txt") == "only\n")
        }
    }

    @Test func `a workspace with a file in place of a folder is no snapshot`() async throws {
        try await withBench { bench in
            try bench.write("layer/Sources", "no folder")
            await #expect(throws: LayerSealing.Obstacle.self) { try await bench.seal() }
        }
    }

    @Test func `links are removed and never followed`() async throws {
        try await withBench { bench in
            try bench.write("outside/main.c", "precious")
            try FileManager.default.createSymbolicLink(
                atPath: "\(bench.layer)/a.txt", withDestinationPath: "\(bench.root)/outside/main.c")
            try FileManager.default.createSymbolicLink(atPath: "\(bench.layer)/link", withDestinationPath: "a.txt")
            try FileManager.default.createSymbolicLink(
                atPath: "\(bench.layer)/untracked", withDestinationPath: "\(bench.root)/outside")
            try await bench.seal(results: ["**/*.c"])
            #expect(!bench.has("link") && bench.has("untracked"))
            #expect(bench.text("a.txt") == "a\n")
            #expect(try String(contentsOfFile: "\(bench.root)/outside/main.c", encoding: .utf8) == "precious")
        }
    }

    @Test func `results are not left for the next run`() async throws {
        try await withBench { bench in
            try bench.write("layer/out/results/unit.xml", "<testsuites/>")
            try bench.write("layer/out/tool", "binary")
            try await bench.seal(results: ["out/results/*.xml"])
            #expect(!bench.has("out/results/unit.xml") && bench.has("out/tool"))
        }
    }
}
