import Foundation
import SystemPackage
import TestBasics
import Testing

@testable import Delivery

struct PrivateFolderTests {
    @Test(.timeLimit(.minutes(1)), arguments: [false, true])
    func `a folder is this user's alone, and one that was left is found again`(isLong: Bool) async throws {
        let folder = try TemporaryFolder()
        // A path that is too long has its folders elsewhere.
        let parent = folder[isLong ? String(repeating: "long", count: 20) : "w"]
        let other = parent + "2"
        let path = try await PrivateFolder.with(in: parent) { path in
            try PrivateFolder.write([1], to: path.appending("key"))
            #expect(path.string.utf8.count < 90)
            #expect(path.string.hasPrefix("/tmp/") == isLong || folder.path.hasPrefix("/tmp/"))
            let rights = try FileManager.default.attributesOfItem(atPath: path.string)[.posixPermissions] as? Int
            #expect(rights == 0o700)
            // As if this process had been killed here.
            #expect(try PrivateFolder.removeLeft(in: other) == 0)
            #expect(FileManager.default.fileExists(atPath: path.string))
            #expect(try PrivateFolder.removeLeft(in: parent) == 1)
            #expect(!FileManager.default.fileExists(atPath: path.string))
            return path
        }
        #expect(!FileManager.default.fileExists(atPath: path.string))
    }

    @Test(.timeLimit(.minutes(1)))
    func `what is no folder of ours stays`() async throws {
        let folder = try TemporaryFolder()
        try folder.write("elsewhere/key", [1])
        try folder.write("w/deliver-file", [1])
        try folder.write("w/other/key", [1])
        try FileManager.default.createSymbolicLink(
            atPath: folder["w/deliver-link"], withDestinationPath: folder["elsewhere"])
        #expect(try PrivateFolder.removeLeft(in: folder["w"]) == 0)
        #expect(try PrivateFolder.removeLeft(in: folder["none"]) == 0)
        #expect(FileManager.default.fileExists(atPath: folder["elsewhere/key"]))
        #expect(FileManager.default.fileExists(atPath: folder["w/other/key"]))
    }
}
