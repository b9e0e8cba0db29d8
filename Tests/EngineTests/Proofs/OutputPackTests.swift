import Foundation
import Pipeline
import SystemPackage
import Testing

@testable import Results
@testable import Engine
import Sandbox
import TestSupport

/// A step's outputs, packed and restored in a workspace that may be hostile.
@Suite(.runFolder, .timeLimit(.minutes(1))) struct OutputPackTests {
    private var packPath: String { RunFolder.current.path("packs") + "/pack" }

    private func pack(_ globs: String...) throws -> OutputRecord {
        try? FileManager.default.removeItem(atPath: packPath)
        let files = WorkspaceFiles(root: FilePath(RunFolder.current.workspace), limits: FileLimits())
        return try OutputPack.write(
            files.matching(globs.map { try Glob($0) }), of: files, to: FilePath(packPath), masker: nil)
    }

    private func unpack(
        _ made: OutputRecord, over globs: [String] = ["out/**"], tracked: [String] = [],
        beside others: [PlannedStep] = [], needs: [String] = [], begunAt: Date = .distantFuture, into folder: String
    ) throws {
        var step = PlannedStep(name: "made", action: .shell("true"), needs: needs)
        step.outputs = globs
        try OutputPack.unpack(
            packPath, sha256: made.sha256,
            inPlaceOf: StaleOutputs(
                before: step, in: Plan(workflow: "w", steps: [step] + others), tracked: tracked, begunAt: begunAt),
            with: WorkspaceWriter(root: FilePath(folder), owner: nil))
    }

    @Test func `files are restored with their modes, and equal files give equal packs`() throws {
        let room = RunFolder.current
        try room.write("tool", to: "out/bin/tool")
        chmod(room.workspace + "/out/bin/tool", 0o700)
        try room.write(String(repeating: "x", count: 600_000), to: "out/large")
        try room.write("", to: "out/empty")
        let made = try pack("out/**")
        #expect(made.files == 3)
        let target = room.path("other")
        try FileManager.default.createDirectory(atPath: target + "/out", withIntermediateDirectories: false)
        try Data("old".utf8).write(to: URL(fileURLWithPath: target + "/out/empty"))
        try unpack(made, into: target)
        #expect(try String(contentsOfFile: target + "/out/bin/tool", encoding: .utf8) == "tool")
        #expect(FileManager.default.isExecutableFile(atPath: target + "/out/bin/tool"))
        #expect(FileManager.default.contents(atPath: target + "/out/large")?.count == 600_000)
        #expect(FileManager.default.contents(atPath: target + "/out/empty") == Data())
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: target + "/out").sorted() == ["bin", "empty", "large"])
        #expect(try pack("out/**") == made)
    }

    /// Files that a snapshot or an earlier step left among the outputs don't belong to them.
    @Test func `existing files that are not in the pack are removed`() throws {
        let room = RunFolder.current
        try room.write("new", to: "out/deep/kept")
        try FileManager.default.createDirectory(
            atPath: room.workspace + "/out/void/in", withIntermediateDirectories: true)
        let made = try pack("out/**", "*.log")
        let target = room.path("other")
        func write(_ path: String) throws {
            let url = URL(fileURLWithPath: "\(target)/\(path)")
            try FileManager.default.createDirectory(
                at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data("old".utf8).write(to: url)
        }
        let stays = ["own", "out/tracked", "sub/x.log", ".git/x.log"]
        for path in stays + ["out/stale", "out/gone/deep/er", "x.log", "out/clone/.git/HEAD", "out/deep/kept"] {
            try write(path)
        }
        // A name that is not UTF-8.
        close(open("\(target)/out/".utf8.map(CChar.init) + [-1, 0], O_CREAT, 0o644))
        for link in ["out/link", "y.log"] {
            try FileManager.default.createSymbolicLink(
                atPath: "\(target)/\(link)", withDestinationPath: room.workspace + "/out")
        }
        try unpack(made, over: ["out/**", "*.log"], tracked: ["out/tracked"], into: target)
        let left = try FileManager.default.subpathsOfDirectory(atPath: target).sorted()
        #expect(
            left == [
                ".git", ".git/x.log", "out", "out/deep", "out/deep/kept", "out/tracked", "out/void", "out/void/in",
                "own",
                "sub", "sub/x.log",
            ])
        #expect(try String(contentsOfFile: target + "/out/deep/kept", encoding: .utf8) == "new")
        #expect(try String(contentsOfFile: room.workspace + "/out/deep/kept", encoding: .utf8) == "new")
    }

    /// A concurrent step may be about to use these files, or may have just made them.
    @Test func `files of other steps stay`() throws {
        let room = RunFolder.current
        try room.write("new", to: "out/made")
        let made = try pack("out/**")
        let target = room.path("other")
        func step(_ name: String, _ outputs: [String], needs: [String] = []) -> PlannedStep {
            var step = PlannedStep(name: name, action: .shell("true"), needs: needs)
            step.outputs = outputs
            return step
        }
        func left(of paths: [String], begunAt: Date, needs: [String]) throws -> [String] {
            try? FileManager.default.removeItem(atPath: target + "/out")
            for path in paths {
                let url = URL(fileURLWithPath: "\(target)/\(path)")
                try FileManager.default.createDirectory(
                    at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
                try Data("x".utf8).write(to: url)
            }
            try unpack(
                made,
                beside: [
                    step("first", ["out/first*"]), step("beside", ["out/beside/**"]),
                    step("after", ["out/after"], needs: ["made"]),
                ], needs: needs, begunAt: begunAt, into: target)
            return paths.filter { FileManager.default.fileExists(atPath: "\(target)/\($0)") }
        }
        let paths = ["out/first", "out/beside/x", "out/after", "out/other"]
        #expect(try left(of: paths, begunAt: .distantFuture, needs: ["first"]) == ["out/beside/x"])
        #expect(
            try left(of: paths, begunAt: .distantPast, needs: ["first"]) == ["out/beside/x", "out/after", "out/other"])
        #expect(try left(of: paths, begunAt: .distantPast, needs: []) == paths)
        #expect(try left(of: paths, begunAt: .distantFuture, needs: []) == ["out/first", "out/beside/x"])
    }

    @Test func `no link of a step leads out of the workspace`() throws {
        let room = RunFolder.current
        try room.write("new", to: "out/sub/file")
        let made = try pack("out/**")
        let (target, outside) = (room.path("other"), room.path("outside"))
        try FileManager.default.createDirectory(atPath: target + "/out", withIntermediateDirectories: false)
        try Data("precious".utf8).write(to: URL(fileURLWithPath: outside + "/precious"))
        try FileManager.default.createSymbolicLink(atPath: target + "/out/sub", withDestinationPath: outside)
        #expect(throws: WorkspaceFileProblem.self) { try unpack(made, into: target) }
        // A link in place of the file itself is replaced and not followed.
        #expect(try FileManager.default.contentsOfDirectory(atPath: outside) == ["precious"])
        try FileManager.default.removeItem(atPath: target + "/out/sub")
        try FileManager.default.createDirectory(atPath: target + "/out/sub", withIntermediateDirectories: false)
        try FileManager.default.createSymbolicLink(
            atPath: target + "/out/sub/file", withDestinationPath: outside + "/precious")
        try unpack(made, into: target)
        #expect(try String(contentsOfFile: outside + "/precious", encoding: .utf8) == "precious")
        #expect(try String(contentsOfFile: target + "/out/sub/file", encoding: .utf8) == "new")
        let linked = room.path("links") + "/root"
        try FileManager.default.createSymbolicLink(atPath: linked, withDestinationPath: outside)
        #expect(throws: WorkspaceFileProblem.self) { try unpack(made, into: linked) }
    }

    private func pack(withLinks globs: String...) throws -> (OutputRecord?, problems: [String]) {
        try? FileManager.default.removeItem(atPath: packPath)
        let files = WorkspaceFiles(
            root: FilePath(RunFolder.current.workspace), limits: FileLimits(), links: OutputLink(readable: []))
        let search = files.matching(try globs.map { try Glob($0) })
        guard search.problems.isEmpty else { return (nil, search.problems) }
        return (try OutputPack.write(search, of: files, to: FilePath(packPath), masker: nil), [])
    }

    /// The links that `python3 -m venv` makes.
    @Test func `a Python environment is restored with its links`() throws {
        let room = RunFolder.current
        try room.write("module", to: ".venv/lib/python3/site.py")
        try room.write("script", to: ".venv/bin/pip")
        let links = [
            ".venv/lib64": "lib", ".venv/bin/python": "python3", ".venv/bin/python3": "/usr/bin/python3",
            ".venv/bin/here": "../lib/./python3/site.py",
        ]
        for (path, target) in links {
            try FileManager.default.createSymbolicLink(
                atPath: "\(room.workspace)/\(path)", withDestinationPath: target)
        }
        let (made, problems) = try pack(withLinks: ".venv/**")
        #expect(problems.isEmpty)
        let target = room.path("other")
        // Remains of an earlier run: a link with that name and another target, and a file.
        try FileManager.default.createDirectory(atPath: target + "/.venv/bin", withIntermediateDirectories: true)
        try FileManager.default.createSymbolicLink(
            atPath: target + "/.venv/bin/python3", withDestinationPath: "/nowhere")
        try Data("old".utf8).write(to: URL(fileURLWithPath: target + "/.venv/lib64"))
        try unpack(try #require(made), over: [".venv/**"], into: target)
        for (path, destination) in links {
            #expect(
                try FileManager.default.destinationOfSymbolicLink(atPath: "\(target)/\(path)") == destination)
        }
        #expect(try String(contentsOfFile: target + "/.venv/lib64/python3/site.py", encoding: .utf8) == "module")
        #expect(
            try FileManager.default.subpathsOfDirectory(atPath: target + "/.venv").count
                == FileManager.default.subpathsOfDirectory(atPath: room.workspace + "/.venv").count)
    }

    @Test(arguments: [
        "/etc/passwd", "/usr/../etc/passwd", "/usrlocal/x", "../x", "a/../../../x", "../../x", "../.git/config", ".git",
    ])
    func `a link that means something else in another run is not stored`(target: String) throws {
        let room = RunFolder.current
        try room.write("x", to: "out/file")
        try FileManager.default.createSymbolicLink(
            atPath: "\(room.workspace)/out/link", withDestinationPath: target == "../x" ? "../../x" : target)
        let (made, problems) = try pack(withLinks: "out/**")
        #expect(made == nil)
        #expect(problems.count == 1 && problems.first?.hasPrefix("out/link is a link") == true)
    }

    @Test(arguments: ["/etc/passwd", "../../x", ".git/hooks"]) func `a link in a pack that leads outside is refused`(
        link: String
    ) throws {
        let target = RunFolder.current.path("other")
        var bytes = OutputPack.header + [0, 0, 0, 3] + Array("a/b".utf8) + [3]
        bytes += [0, 0, 0, 0, 0, 0, 0, UInt8(link.utf8.count)] + Array(link.utf8)
        try Data(bytes).write(to: URL(fileURLWithPath: packPath))
        #expect(throws: WorkspaceFileProblem.self) {
            try OutputPack.unpack(
                packPath, sha256: FileDigest.of(Data(bytes)),
                inPlaceOf: StaleOutputs(
                    before: PlannedStep(name: "made", action: .shell("true")),
                    in: Plan(workflow: "w", steps: []), tracked: [], begunAt: Date()),
                with: WorkspaceWriter(root: FilePath(target), owner: nil))
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: target).isEmpty)
    }

    @Test(arguments: ["../x", "/etc/x", "a/../../x", ".git/hooks/x", "a//b", "", "a/./b", "a/.git/x", "a\0b"])
    func `a path in a pack that leads outside is refused`(path: String) throws {
        let target = RunFolder.current.path("other")
        var bytes = OutputPack.header + [0, 0, 0, UInt8(path.utf8.count)] + Array(path.utf8) + [0]
        bytes += [0, 0, 0, 0, 0, 0, 0, 1, 65]
        try Data(bytes).write(to: URL(fileURLWithPath: packPath))
        #expect(throws: (any Error).self) {
            try OutputPack.unpack(
                packPath, sha256: FileDigest.of(Data(bytes)),
                inPlaceOf: StaleOutputs(
                    before: PlannedStep(name: "made", action: .shell("true")),
                    in: Plan(workflow: "w", steps: []), tracked: [], begunAt: Date()),
                with: WorkspaceWriter(root: FilePath(target), owner: nil))
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: target).filter { $0 != "a" }.isEmpty)
    }

    @Test(arguments: [0, 5, 18, 20, 25, 40]) func `a truncated or changed pack is refused`(length: Int) throws {
        let room = RunFolder.current
        try room.write("content that is long enough", to: "out/a")
        let made = try pack("out/**")
        let whole = try #require(FileManager.default.contents(atPath: packPath))
        try whole.prefix(length).write(to: URL(fileURLWithPath: packPath))
        #expect(throws: (any Error).self) { try unpack(made, into: room.path("cut")) }
        var changed = whole
        changed[whole.count - 1] ^= 1
        try changed.write(to: URL(fileURLWithPath: packPath))
        #expect(throws: OutputPackProblem.self) { try unpack(made, into: room.path("changed")) }
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: room.path("changed")).isEmpty,
            "nothing is put in place before all of it is known to be right")
    }
}
