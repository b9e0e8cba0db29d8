import TestBasics
import ArgumentParser
import Foundation
import Testing

@testable import pipectl

@Suite struct RepositoryOptionTests {
    @Test func `a name is not a folder`() throws {
        let option = try RepositoryOption.parse(["--repository", "web"])
        #expect(option.path == nil && option.place == "web")
        let url = try RepositoryOption.parse(["--repository", "https://git.example.com/team/tool"])
        #expect(url.path == nil && url.place == "https://git.example.com/team/tool")
        let gone = try RepositoryOption.parse(["--repository", "/nosuch/folder"])
        #expect(gone.path == nil && gone.place == "/nosuch/folder", "the box says that it knows none")
    }

    @Test func `a path that exists is a folder`() throws {
        let room = try TemporaryFolder()
        let folder = room.path
        let option = try RepositoryOption.parse(["--repository", folder])
        #expect(option.path == option.place && option.path?.hasPrefix("/") == true)
        #expect(try RepositoryOption.parse(["--folder", folder]).path == option.path)
        #expect(try RepositoryOption.parse([]).path == RepositoryOption.parse(["--repository", "."]).path)
    }

    @Test func `a name and a folder exclude each other`() {
        #expect(throws: (any Error).self) { try RepositoryOption.parse(["--repository", "web", "--folder", "/tmp"]) }
    }
}
