import Concurrency
import Foundation
import Pipeline
import Synchronization
import SystemPackage
import Testing

@testable import Engine
import TestSupport

@Suite(.runFolder, .timeLimit(.minutes(1))) struct WorkspaceFilesTests {
    private func files(_ limits: FileLimits = FileLimits()) -> WorkspaceFiles {
        WorkspaceFiles(root: FilePath(RunFolder.current.workspace), limits: limits)
    }

    private func link(_ path: String, to target: String) throws {
        try FileManager.default.createSymbolicLink(
            atPath: RunFolder.current.workspace + "/" + path, withDestinationPath: target)
    }

    @Test func `only regular files below the workspace match`() throws {
        let folder = RunFolder.current
        for name in ["a.txt", "d/b.txt", "d/e/c.txt", ".git/config.txt", "d/.git/x.txt"] {
            try folder.write(name, to: name)
        }
        try link("l.txt", to: "/etc/hostname")
        try link("out", to: "/etc")
        let search = files().matching([try Glob("**/*.txt")])
        #expect(search.matches.map(\.path) == ["a.txt", "d/b.txt", "d/e/c.txt"])
        #expect(search.problems == ["l.txt is a link and was skipped; copy the file itself"])
    }

    @Test(arguments: ["../secret", "/etc/hostname", "out/hostname", "l.txt", "fifo", "d", "gone"])
    func `a file outside the workspace is not copied`(path: String) throws {
        let folder = RunFolder.current
        try folder.write("", to: "d/x")
        try "secret".write(toFile: folder.root + "/secret", atomically: false, encoding: .utf8)
        try link("l.txt", to: "/etc/hostname")
        try link("out", to: "/etc")
        #expect(mkfifo(folder.workspace + "/fifo", 0o600) == 0)
        #expect(throws: WorkspaceFileProblem.self) {
            try files().copy(path, to: FilePath(folder.root + "/copy"))
        }
        #expect(!FileManager.default.fileExists(atPath: folder.root + "/copy"))
    }

    @Test func `a folder that is exchanged for a link meanwhile leaks nothing`() async throws {
        let folder = RunFolder.current
        let workspace = folder.workspace
        try folder.write("mine", to: "d/file")
        let outside = folder.path("outside")
        try "secret".write(toFile: outside + "/file", atomically: false, encoding: .utf8)
        let isOver = Mutex(false)
        async let exchange: Void = onOwnThread {
            while !isOver.withLock({ $0 }) {
                rename(workspace + "/d", workspace + "/aside")
                symlink(outside, workspace + "/d")
                unlink(workspace + "/d")
                rename(workspace + "/aside", workspace + "/d")
            }
        }
        var copies = 0
        for number in 0..<3_000 {
            let copy = folder.root + "/copy\(number)"
            guard (try? files().copy("d/file", to: FilePath(copy))) != nil else { continue }
            copies += 1
            #expect(try String(contentsOfFile: copy, encoding: .utf8) == "mine")
            unlink(copy)
        }
        isOver.withLock { $0 = true }
        try await exchange
        #expect(copies > 0)
    }

    @Test func `limits end the walk and are reported`() throws {
        let folder = RunFolder.current
        for number in 0..<20 { try folder.write("", to: "many/\(number)") }
        try folder.write("", to: "a/b/c/d/file")
        var few = FileLimits()
        few.entries = 10
        #expect(files(few).matching([try Glob("**")]).problems.count == 1)
        var flat = FileLimits()
        flat.depth = 2
        let search = files(flat).matching([try Glob("a/**")])
        #expect(search.problems == ["a/b/c is more than 2 folders deep and was skipped"])
    }

    @Test func `a missing workspace is reported`() {
        let gone = WorkspaceFiles(root: "/nonexistent", limits: FileLimits())
        #expect(gone.matching([]).problems == ["the workspace can't be opened: No such file or directory"])
    }
}
