import Foundation
import Pipeline
import Results
import Signing
import SystemPackage

/// A Homebrew formula among the files of a release. What only the release knows is filled in when it is made:
///
/// ```ruby
/// class HelloTool < Formula
///   version "@VERSION@"
///   url "@ADDRESS@/releases/download/@TAG@/hello-tool-@VERSION@.tar.gz"
///   sha256 "@SHA256 hello-tool-@VERSION@.tar.gz@"
/// ```
struct ReleaseFormula: Sendable {
    /// The longest formula that is read, in bytes.
    static let longest = 1 << 20

    /// The name of the file, as in `hello-tool.rb`.
    let name: String
    let version: String
    let tag: String
    /// The repository's address for people; nil if it has none.
    let address: String?

    /// The release's files, with the formula filled in; its new content is in `folder`, named by its digest. It blocks.
    ///
    /// - Throws: ``DeliveryProblem`` with `.invalid` where there is no such file, or where it can't be filled in.
    func fill(in files: [ReleaseFile], folder: FilePath) throws -> [ReleaseFile] {
        guard let index = files.firstIndex(where: { $0.name == name }) else {
            throw DeliveryProblem(
                .invalid, "the release has no file \(name), which .formula(…) names: declare it with .artifacts(…)")
        }
        guard files[index].bytes <= Self.longest, let bytes = FileManager.default.contents(atPath: files[index].path),
            let text = String(validating: bytes, as: UTF8.self)
        else { throw DeliveryProblem(.invalid, "\(name) is no text of at most 1 MiB, so it is no formula") }
        let filled = Data(try fill(text, digests: files.filter { $0.name != name }).utf8)
        let digest = FileDigests(of: filled).sha256Text
        let path = folder.appending(digest).string
        try filled.write(to: URL(fileURLWithPath: path))
        var files = files
        files[index] = ReleaseFile(name: name, path: path, bytes: filled.count, sha256: digest)
        return files
    }

    /// The formula's text with the release's own values.
    ///
    /// - Parameter files: The files whose digests it may name.
    func fill(_ text: String, digests files: [ReleaseFile]) throws -> String {
        try checkClass(of: text)
        var text = text.replacing("@VERSION@", with: version).replacing("@TAG@", with: tag)
        if text.contains("@ADDRESS@") {
            guard let address else {
                throw DeliveryProblem(
                    .invalid,
                    "\(name) has @ADDRESS@, but the repository has no address: `pipectl forge connect` names it, "
                        + "or write the address into the formula")
            }
            text.replace("@ADDRESS@", with: address)
        }
        for file in files { text.replace("@SHA256 \(file.name)@", with: file.sha256) }
        if let left = text.firstRange(of: "@SHA256") {
            throw DeliveryProblem(
                .invalid,
                "\(name) has `\(text[left.lowerBound...].prefix { !$0.isNewline && $0 != "\"" })`, but the release has only "
                    + files.map(\.name).joined(separator: ", "))
        }
        return text
    }

    /// Homebrew looks for a class that is named like the file, and ignores a formula without one.
    private func checkClass(of text: String) throws {
        let wanted = Self.className(name)
        let found = text.firstMatch(of: /(?m)^\s*class\s+([A-Za-z0-9_]+)\s*<\s*Formula\b/).map { String($0.1) }
        guard found == wanted else {
            throw DeliveryProblem(
                .invalid,
                "\(name) has \(found.map { "the class \($0)" } ?? "no class of a formula"); Homebrew looks for "
                    + "`class \(wanted) < Formula`")
        }
    }

    /// The class of a formula: `gnu-tool@2.rb` has `GnuToolAT2`.
    ///
    /// Source: `Formulary.class_s` of Homebrew, https://docs.brew.sh/rubydoc/Formulary.html
    static func className(_ file: String) -> String {
        let name = file.hasSuffix(".rb") ? String(file.dropLast(3)) : file
        var made = name.prefix(1).uppercased() + name.dropFirst().lowercased()
        made.replace(/[-_.\s]([a-zA-Z0-9])/) { $0.1.uppercased() }
        made.replace("+", with: "x")
        if let match = made.firstMatch(of: /(.)@([0-9])/) {
            made.replaceSubrange(match.range, with: "\(match.1)AT\(match.2)")
        }
        return made
    }
}
