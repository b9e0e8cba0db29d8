/// The names of the files with signatures of a file.
///
/// The first key of a form signs `FILE.minisig`, as other programs expect it. Each further one has its id in the name, as
/// in `FILE.5B2D3A7C90E1F842.minisig`, so that no signature takes the place of another.
package enum SignatureFile {
    package static let minisign = ".minisig"
    package static let cosign = ".sig"
    package static let bundle = ".sigstore.json"

    /// - Parameters:
    ///   - file: The signed file's name.
    ///   - key: Of a further key; nil for the first one of its form.
    package static func name(of file: String, _ ending: String, by key: KeyID?) -> String {
        key.map { "\(file).\($0)\(ending)" } ?? file + ending
    }

    /// The names that the signed file can have; none if this is no name of a signature.
    static func signed(by name: String) -> [String] {
        guard let ending = [minisign, cosign, bundle].first(where: name.hasSuffix) else { return [] }
        let file = name.dropLast(ending.count)
        guard let dot = file.lastIndex(of: "."), KeyID(String(file[file.index(after: dot)...])) != nil else {
            return [String(file)]
        }
        return [String(file), String(file[..<dot])]
    }
}
