import TestBasics
import Foundation
import Testing

@testable import Sandbox

/// The machine's settings in one folder, as sandboxes mount it.
struct SettingsCopyTests {
    private let room: TemporaryFolder
    private var folder: String { room.path }
    private let source: String

    init() throws {
        room = try TemporaryFolder(.disk)
        source = room["etc"]
        try room.folder("etc/many")
    }

    @Test func `small entries are copied and large ones named`() throws {
        try "one".write(toFile: source + "/hosts", atomically: true, encoding: .utf8)
        try FileManager.default.createSymbolicLink(atPath: source + "/linked", withDestinationPath: source + "/hosts")
        for number in 1...80 { try "x".write(toFile: "\(source)/many/\(number)", atomically: false, encoding: .utf8) }
        let paths = ["hosts", "linked", "many", "missing"].map { "\(source)/\($0)" }
        let copy = try SettingsCopy(in: folder + "/copy", paths: paths, below: source)
        let view = try #require(copy.view())
        #expect(view.mounts == ["\(source)/many"])
        #expect(try String(contentsOfFile: view.folder + "/hosts", encoding: .utf8) == "one")
        // A link is replaced by its target.
        #expect(
            try FileManager.default.attributesOfItem(atPath: view.folder + "/linked")[.type] as? FileAttributeType
                == .typeRegular)
        #expect(FileManager.default.fileExists(atPath: "\(view.folder)/many"))
        for place in ["passwd", "group"] {
            #expect(
                try FileManager.default.destinationOfSymbolicLink(atPath: "\(view.folder)/\(place)")
                    == "/run/pipectl/\(place)")
        }
        #expect(!FileManager.default.fileExists(atPath: "\(view.folder)/missing"))
    }

    /// Steps are another user, so files that the machine closes to others must be closed in the copy.
    @Test func `a folder that is closed to others stays closed`() throws {
        let files = FileManager.default
        try files.createDirectory(atPath: source + "/open/closed", withIntermediateDirectories: true)
        try "secret".write(toFile: source + "/open/closed/key", atomically: true, encoding: .utf8)
        try files.setAttributes([.posixPermissions: 0o755], ofItemAtPath: source + "/open")
        try files.setAttributes([.posixPermissions: 0o700], ofItemAtPath: source + "/open/closed")
        let view = try #require(try SettingsCopy(in: folder + "/copy", paths: [source + "/open"], below: source).view())
        func mode(_ path: String) throws -> Int? {
            try files.attributesOfItem(atPath: view.folder + path)[.posixPermissions] as? Int
        }
        #expect(try mode("/open/closed") == 0o700)
        #expect(try mode("/open") == 0o755)
        #expect(try mode("") == 0o755)
    }

    @Test func `a new daemon uses the same copy and removes others`() throws {
        let path = source + "/hosts"
        try "one".write(toFile: path, atomically: true, encoding: .utf8)
        let first = try #require(try SettingsCopy(in: folder + "/copy", paths: [path], below: source).view())
        #expect(try SettingsCopy(in: folder + "/copy", paths: [path], below: source).view() == first)
        try "two two".write(toFile: path, atomically: true, encoding: .utf8)
        let second = try #require(try SettingsCopy(in: folder + "/copy", paths: [path], below: source).view())
        #expect(second != first)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder + "/copy").count == 1)
        #expect(try String(contentsOfFile: second.folder + "/hosts", encoding: .utf8) == "two two")
    }
}
