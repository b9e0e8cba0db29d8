import Foundation
import Testing

@testable import Sandbox
import TestSupport

/// Files that are written in place.
@Suite(.runFolder) struct SmallFileTests {
    @Test(arguments: ["", "a", "as long", "longer than before"])
    func `an existing file is replaced in place`(text: String) throws {
        let path = RunFolder.current.root + "/file"
        try SmallFile.write("as long".utf8, to: path, isForAll: true)
        let before = try FileManager.default.attributesOfItem(atPath: path)
        try SmallFile.write(text.utf8, to: path)
        let after = try FileManager.default.attributesOfItem(atPath: path)
        #expect(try String(contentsOfFile: path, encoding: .utf8) == text)
        #expect(after[.systemFileNumber] as? Int == before[.systemFileNumber] as? Int)
        #expect(before[.posixPermissions] as? Int == 0o644)
        #expect(after[.posixPermissions] as? Int == 0o600)
    }

    @Test func `a link is not followed`() throws {
        let (file, link) = (RunFolder.current.root + "/file", RunFolder.current.root + "/link")
        try SmallFile.write("kept".utf8, to: file)
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: file)
        #expect(throws: (any Error).self) { try SmallFile.write("lost".utf8, to: link) }
        #expect(try String(contentsOfFile: file, encoding: .utf8) == "kept")
    }
}
