package import Foundation

/// The file `SHA256SUMS`, which `sha256sum -c` reads.
///
/// It finds damage, no forgery: whoever changes a file can change its line.
package struct Checksums: Sendable, Equatable {
    package static let fileName = "SHA256SUMS"
    /// The longest file that is read, in bytes.
    package static let limit = 2 << 20

    /// Digests in lower-case hexadecimal digits, by name.
    package let digests: [String: String]

    package init(_ files: [ReleaseManifest.File]) {
        digests = Dictionary(files.map { ($0.name, $0.sha256) }) { first, _ in first }
    }

    /// Reads a file of `sha256sum`.
    ///
    /// - Throws: ``SigningError`` with `malformed`, `badName`, `duplicateName` or `tooLarge`.
    package init(_ data: Data) throws(SigningError) {
        guard data.count <= Self.limit else { throw SigningError(.tooLarge, "\(Self.fileName) is too large") }
        guard let text = String(validating: data, as: UTF8.self) else {
            throw SigningError(.malformed, "\(Self.fileName) is no text in UTF-8")
        }
        var digests: [String: String] = [:]
        for line in text.split(separator: "\n") {
            let digest = String(line.prefix(64))
            let rest = line.dropFirst(64)
            guard digest.isSHA256, rest.hasPrefix("  ") || rest.hasPrefix(" *") else {
                throw SigningError(.malformed, "\(Self.fileName) has a line that is no digest, two spaces and a name")
            }
            var name = rest.dropFirst(2)
            if name.hasPrefix("./") { name = name.dropFirst(2) }
            guard String(name).isPlainName else {
                throw SigningError(.badName, "\(Self.fileName) has a file with a folder in its name")
            }
            guard digests.updateValue(digest, forKey: String(name)) == nil else {
                throw SigningError(.duplicateName, "\(Self.fileName) has a file twice")
            }
        }
        self.digests = digests
    }

    /// The file's text, in the order of the names.
    package var text: String { digests.sorted { $0.key < $1.key }.map { "\($0.value)  \($0.key)\n" }.joined() }
}
