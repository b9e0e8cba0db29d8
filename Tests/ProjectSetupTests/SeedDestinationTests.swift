import TestBasics
import Foundation
import Testing

@testable import ProjectSetup

/// `init` writes into the repository, never to the target of a link.
@Suite struct SeedDestinationTests {
    private func with(_ body: (_ top: String, _ outside: String) throws -> Void) throws {
        let room = try TemporaryFolder()
        try body(try room.folder("top"), try room.folder("outside"))
    }

    private let seeds = [
        SeedFile(path: "workflows/a.swift", text: "a"), SeedFile(path: "workflows/b.swift", text: "b"),
    ]

    @Test func `a folder that is a link is not written through`() throws {
        try with { top, outside in
            for target in [outside, "\(outside)/missing"] {
                try? FileManager.default.removeItem(atPath: "\(top)/workflows")
                try FileManager.default.createSymbolicLink(atPath: "\(top)/workflows", withDestinationPath: target)
                let error = #expect(throws: SeedObstacle.self) {
                    try SeedDestination(named: "workflows", in: top).write(seeds)
                }
                #expect(error?.path == "\(top)/workflows" && error?.reason == nil)
                #expect(try FileManager.default.contentsOfDirectory(atPath: outside) == [])
            }
            try? FileManager.default.removeItem(atPath: "\(top)/workflows")
            try FileManager.default.createSymbolicLink(atPath: "\(top)/workflows", withDestinationPath: outside)
            let own = try SeedWorkflows(for: SeedProject(directory: top), source: .placeholder)
            #expect(throws: SeedObstacle.self) { try own.write(to: top) }
            #expect(try FileManager.default.contentsOfDirectory(atPath: outside) == [])
        }
    }

    @Test func `a file that is a link is not written through and no other file stays`() throws {
        try with { top, outside in
            try FileManager.default.createDirectory(atPath: "\(top)/workflows", withIntermediateDirectories: true)
            try FileManager.default.createSymbolicLink(
                atPath: "\(top)/workflows/b.swift", withDestinationPath: "\(outside)/b.swift")
            #expect(throws: SeedObstacle.self) { try SeedDestination(named: "workflows", in: top).write(seeds) }
            #expect(try FileManager.default.contentsOfDirectory(atPath: outside) == [])
            #expect(try FileManager.default.contentsOfDirectory(atPath: "\(top)/workflows") == ["b.swift"])
        }
    }

    @Test func `the editor's file is not written through a link`() throws {
        try with { top, outside in
            try FileManager.default.createDirectory(atPath: "\(top)/workflows", withIntermediateDirectories: true)
            try Data("mine".utf8).write(to: URL(fileURLWithPath: "\(outside)/precious"))
            try FileManager.default.createSymbolicLink(
                atPath: "\(top)/workflows/compile_flags.txt", withDestinationPath: "\(outside)/precious")
            let files = try EditorFiles(directory: top)
            #expect(throws: EditorFileProblem.self) { try files.write() }
            #expect(try String(contentsOfFile: "\(outside)/precious", encoding: .utf8) == "mine")
            try FileManager.default.removeItem(atPath: "\(top)/workflows/compile_flags.txt")
            // The second time it finds its own file.
            for _ in 1...2 { try files.write() }
            let flags = try String(contentsOfFile: "\(top)/workflows/compile_flags.txt", encoding: .utf8)
            #expect(flags.hasPrefix("-I\n/"))
        }
    }

    @Test func `an editor's file that pipectl did not write stays`() throws {
        try with { top, _ in
            try FileManager.default.createDirectory(atPath: "\(top)/workflows", withIntermediateDirectories: true)
            let file = "\(top)/workflows/compile_flags.txt"
            try Data("-I\n/mine\n".utf8).write(to: URL(fileURLWithPath: file))
            let files = try EditorFiles(directory: top)
            #expect(throws: EditorFileProblem.self) { try files.write() }
            #expect(try String(contentsOfFile: file, encoding: .utf8) == "-I\n/mine\n")
            let settings = #"{"swiftPM": {"swiftCompilerFlags": ["-I/a"], "configuration": "debug"}}"#
            #expect(!EditorFiles.isOwn(Data(settings.utf8), isPackage: true))
            #expect(EditorFiles.isOwn(Data(files.text.utf8), isPackage: false))
        }
    }

    @Test func `Git's list of ignored files keeps its bytes`() throws {
        try with { top, _ in
            let exclude = "\(top)/.git/info/exclude"
            try FileManager.default.createDirectory(atPath: "\(top)/.git/info", withIntermediateDirectories: true)
            let before = Data([0xe9, 0x74, 0xe9])
            try before.write(to: URL(fileURLWithPath: exclude))
            for _ in 1...2 { try EditorFiles(directory: top).write() }
            let after = try Data(contentsOf: URL(fileURLWithPath: exclude))
            #expect(after == before + Data("\n/workflows/compile_flags.txt\n".utf8))
        }
    }

    @Test func `the files are written`() throws {
        try with { top, _ in
            try SeedDestination(named: "workflows", in: top).write(seeds)
            #expect(try String(contentsOfFile: "\(top)/workflows/b.swift", encoding: .utf8) == "b")
        }
    }
}
