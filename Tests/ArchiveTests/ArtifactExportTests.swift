import TestBasics
@testable import Results
@testable import Store
import Foundation
import TestSupport
import Testing

@testable import Archive

@Suite struct ArtifactExportTests {
    private let folder: TemporaryFolder
    private let source: String

    init() throws {
        folder = try TemporaryFolder()
        source = try folder.write("kept", Array("abc".utf8))
    }

    private var out: String { folder.path + "/out" }

    private func record(_ path: String, sha256: String = ArchiveRoom.digest, step: String = "pack") -> ArtifactRecord {
        ArtifactRecord(step: step, path: path, bytes: 3, sha256: sha256, isExecutable: true)
    }

    private func copy(_ record: ArtifactRecord, force: Bool = false) throws -> ArtifactExport.Copied {
        try ArtifactExport(folder: out, overwrites: force).copy(record, from: source)
    }

    private func fails(_ code: ArchiveError.Code = .badArtifact, _ body: () throws -> Void) -> Bool {
        do {
            try body()
            return false
        } catch { return (error as? ArchiveError)?.code == code }
    }

    @Test func `an artifact keeps its path, bytes and mode`() throws {
        let copied = try copy(record("dist/bin/tool"))
        #expect(copied.file == out + "/dist/bin/tool" && !copied.wasThere)
        #expect(try String(contentsOfFile: copied.file, encoding: .utf8) == "abc")
        #expect(FileManager.default.isExecutableFile(atPath: copied.file))
        #expect(try copy(record("dist/bin/tool")).wasThere)
        #expect(try FileManager.default.contentsOfDirectory(atPath: out + "/dist/bin") == ["tool"])
    }

    @Test(arguments: [
        "../evil", "/etc/evil", "a/../../evil", "a//b", "./a", "", "a/", "a\u{1b}[2Jb", "a\nb", "a\u{0}b", "..",
        ".git", ".git/config", "a/.GIT/hooks/x", "GIT~1/config",
        String(repeating: "x", count: 256),
    ])
    func `a name that is not safe is refused`(path: String) throws {
        #expect(fails { _ = try copy(record(path), force: true) })
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() == ["kept"])
    }

    @Test func `nothing is overwritten without being asked`() throws {
        try folder.write("out/a", Array("mine".utf8))
        #expect(fails { _ = try copy(record("a")) })
        #expect(try String(contentsOfFile: out + "/a", encoding: .utf8) == "mine")
        _ = try copy(record("a"), force: true)
        #expect(try String(contentsOfFile: out + "/a", encoding: .utf8) == "abc")
        try FileManager.default.createDirectory(atPath: out + "/b", withIntermediateDirectories: true)
        #expect(fails { _ = try copy(record("b"), force: true) }, "a folder is not replaced")
    }

    @Test func `the check finds what can't be written before anything is`() throws {
        try folder.write("out/b", Array("mine".utf8))
        func check(_ paths: [String], force: Bool = false) throws {
            try ArtifactExport(folder: out, overwrites: force).check(paths.map { record($0) })
        }
        #expect(fails { try check(["a", "b"]) })
        #expect(fails { try check(["a", "b/c"], force: true) }, "a file is where a folder must be")
        #expect(fails { try check(["d", "d/e"], force: true) }, "one artifact is the folder of the other")
        #expect(fails { try check(["a", "../x"], force: true) })
        try check(["a", "b", "d/e", "d-e"], force: true)
        try folder.write("out/b", Array("abc".utf8))
        try check(["a", "b"])
        #expect(try FileManager.default.contentsOfDirectory(atPath: out) == ["b"])
    }

    @Test(arguments: [EPERM, ENOTSUP])
    func `a file system without hard links gets the file, and keeps what is there`(failure: Int32) throws {
        let refuse: (String, String) -> Int32 = { _, _ in
            errno = failure
            return -1
        }
        let target = folder.path + "/new"
        #expect(ArtifactExport.putNew(source, at: target, link: refuse))
        #expect(try String(contentsOfFile: target, encoding: .utf8) == "abc")
        let other = try folder.write("other", Array("xyz".utf8))
        #expect(!ArtifactExport.putNew(other, at: target, link: refuse))
        #expect(try String(contentsOfFile: target, encoding: .utf8) == "abc")
    }

    @Test func `links in the folder are not followed`() throws {
        try folder.write("else/keep", Array("mine".utf8))
        try FileManager.default.createDirectory(atPath: out, withIntermediateDirectories: true)
        try FileManager.default.createSymbolicLink(atPath: out + "/dir", withDestinationPath: folder.path + "/else")
        try FileManager.default.createSymbolicLink(
            atPath: out + "/file", withDestinationPath: folder.path + "/else/keep")
        #expect(fails { _ = try copy(record("dir/keep"), force: true) })
        _ = try copy(record("file"), force: true)
        #expect(try String(contentsOfFile: folder.path + "/else/keep", encoding: .utf8) == "mine")
        #expect(try String(contentsOfFile: out + "/file", encoding: .utf8) == "abc")
    }

    @Test func `bytes with another digest are not written`() throws {
        #expect(fails(.digestMismatch) { _ = try copy(record("a", sha256: String(repeating: "0", count: 64))) })
        #expect(try FileManager.default.contentsOfDirectory(atPath: out).isEmpty)
    }

    @Test func `a pattern chooses by path or file name`() throws {
        let all = [record("dist/a.tar.gz"), record("dist/b.txt"), record("c.txt")]
        func paths(_ pattern: String?, step: String? = nil) throws -> [String] {
            try ArtifactExport.select(all, matching: pattern, step: step, of: 1).map(\.path)
        }
        #expect(try paths(nil) == ["c.txt", "dist/a.tar.gz", "dist/b.txt"])
        #expect(try paths("dist/*.gz") == ["dist/a.tar.gz"])
        #expect(try paths("b.txt") == ["dist/b.txt"])
        #expect(fails { _ = try paths("nosuch") })
        #expect(fails { _ = try paths(nil, step: "nosuch") })
        let twice = [record("a"), record("a", sha256: "other", step: "again")]
        #expect(fails { _ = try ArtifactExport.select(twice, matching: nil, step: nil, of: 1) })
        #expect(try ArtifactExport.select(twice, matching: nil, step: "again", of: 1).map(\.step) == ["again"])
    }
}
