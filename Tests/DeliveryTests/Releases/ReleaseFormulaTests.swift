import Foundation
import SystemPackage
import TestBasics
import Testing

@testable import Delivery

/// What a release fills into its Homebrew formula.
struct ReleaseFormulaTests {
    private let archive = ReleaseFile(name: "hello-1.2.tar.gz", path: "/x", bytes: 3, sha256: "abc")
    private func formula(address: String? = "https://example.com/o/hello") -> ReleaseFormula {
        ReleaseFormula(name: "hello.rb", version: "1.2", tag: "v1.2", address: address)
    }

    @Test func `version, tag, address and digests are filled in`() throws {
        let text = try formula().fill(
            """
            class Hello < Formula
              version "@VERSION@"
              url "@ADDRESS@/releases/download/@TAG@/hello-@VERSION@.tar.gz"
              sha256 "@SHA256 hello-@VERSION@.tar.gz@"
              def caveats = @text
            """, digests: [archive])
        #expect(
            text == """
                class Hello < Formula
                  version "1.2"
                  url "https://example.com/o/hello/releases/download/v1.2/hello-1.2.tar.gz"
                  sha256 "abc"
                  def caveats = @text
                """)
    }

    @Test func `a file may have an at sign in its name`() throws {
        let file = ReleaseFile(name: "hello@2-1.2.tar.gz", path: "/x", bytes: 3, sha256: "def")
        let text = try formula().fill("class Hello < Formula\n\"@SHA256 hello@2-@VERSION@.tar.gz@\"", digests: [file])
        #expect(text.hasSuffix("\"def\""))
    }

    @Test(arguments: [
        "class Hello < Formula\nsha256 \"@SHA256  hello-1.2.tar.gz@\"",
        "class Hello < Formula\nsha256 \"@SHA256 other.tar.gz@\"", "class Hello < Formula\nurl \"@ADDRESS@/x\"",
        "class Hallo < Formula\n", "class Hello < Cask\n", "",
    ])
    func `a formula that Homebrew could not use is refused`(text: String) {
        let problem = #expect(throws: DeliveryProblem.self) {
            try formula(address: nil).fill(text, digests: [archive])
        }
        #expect(problem?.code == .invalid)
    }

    @Test func `the file has the new content, and the others stay`() throws {
        let folder = try TemporaryFolder()
        let path = try folder.write("template", Array("class Hello < Formula\nversion \"@VERSION@\"\n".utf8))
        let template = ReleaseFile(name: "hello.rb", path: path, bytes: 43, sha256: "old")
        let files = try formula().fill(in: [archive, template], folder: FilePath(folder.path))
        #expect(files[0] == archive)
        #expect(files[1].sha256 != "old")
        let content = try String(contentsOfFile: files[1].path, encoding: .utf8)
        #expect(content == "class Hello < Formula\nversion \"1.2\"\n")
        #expect(files[1].bytes == content.utf8.count)
        #expect(throws: DeliveryProblem.self) { try formula().fill(in: [archive], folder: FilePath(folder.path)) }
    }

    @Test(arguments: [
        ("hello.rb", "Hello"), ("gnu-tool.rb", "GnuTool"), ("gnu-tool@2.rb", "GnuToolAT2"), ("a2ps.rb", "A2ps"),
        ("libstdc++.rb", "Libstdcxx"), ("x_y.z.rb", "XYZ"),
    ])
    func `a formula's class is named like its file`(file: String, name: String) {
        #expect(ReleaseFormula.className(file) == name)
    }
}
