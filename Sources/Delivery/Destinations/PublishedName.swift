import Crypto
import Foundation

/// Checks of names that become parts of paths and addresses.
enum PublishedName {
    /// - Throws: ``DeliveryProblem`` with `.invalid`: the version can't be the name of a folder.
    static func version(_ text: String) throws -> String {
        guard text.utf8.count <= 128, text.wholeMatch(of: /[A-Za-z0-9][A-Za-z0-9._+~\-]*/) != nil, !text.contains("..")
        else {
            throw DeliveryProblem(
                .invalid,
                "the version \"\(shown(text))\" can't be the name of a folder; it may have letters, digits and . _ + ~ -"
            )
        }
        return text
    }

    /// - Throws: ``DeliveryProblem`` with `.invalid`: the name has characters that mean something to a shell, an address
    ///   or a pattern, or it is hidden.
    static func file(_ text: String) throws -> String {
        guard text.utf8.count <= 200, text.wholeMatch(of: /[A-Za-z0-9_][A-Za-z0-9._+~@ ()\-]*/) != nil else {
            throw DeliveryProblem(
                .invalid,
                "the file \"\(shown(text))\" can't be published; its name may have letters, digits, spaces and . _ + ~ @ - ( )"
            )
        }
        return text
    }

    /// Checks all names of a release.
    static func check(_ release: ReleaseContent) throws {
        _ = try version(release.version)
        guard !release.files.isEmpty else {
            throw DeliveryProblem(
                .invalid, "release \(release.version) has no files; name artifacts in Release(files:)")
        }
        for file in release.files { _ = try Self.file(file.name) }
    }

    /// Foreign text for a message: on one line, with at most 200 characters.
    static func shown(_ text: String) -> String {
        String(
            text.unicodeScalars.prefix(200).map {
                $0.value < 0x20 || (0x7F...0x9F).contains($0.value) || $0.properties.generalCategory == .format
                    ? " " : Character($0)
            })
    }
}

extension ReleaseContent {
    /// The name of the hidden folder in which its files are written before they are shown. Another release of the same
    /// version has another name, so neither shows what the other has begun.
    var partName: String {
        let text = ([commit] + files.map { "\($0.sha256) \($0.name)" }).joined(separator: "\n")
        let digest = SHA256.hash(data: Data(text.utf8)).prefix(6).map { String(format: "%02x", $0) }.joined()
        return ".\(version)-\(digest)\(DurableFiles.unfinished)"
    }
}
