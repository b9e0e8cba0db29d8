import Foundation

/// A package as an index of apt describes it.
struct DebianPackage: Sendable, Equatable {
    var name: String
    var version: String
    var architecture: String
    /// Lower-case hex.
    var sha256: String
    /// The whole paragraph, without an empty line at the end.
    var paragraph: String

    /// What may be there once.
    var identity: String { "\(name) \(version) \(architecture)" }

    /// Reads a paragraph of an index; nil if it is none.
    init?(paragraph: String) {
        let fields = Self.fields(paragraph)
        guard let name = fields["package"], let version = fields["version"], let architecture = fields["architecture"],
            let sha256 = fields["sha256"]
        else { return nil }
        (self.name, self.version, self.architecture, self.sha256) = (name, version, architecture, sha256)
        self.paragraph = paragraph
    }

    /// Makes the paragraph of a `.deb` file.
    ///
    /// - Parameter control: The control file, as `dpkg-deb -f` prints it.
    /// - Throws: ``DeliveryProblem`` with `.invalid`.
    init(control: String, file: ReleaseFile, component: String) throws {
        let fields = Self.fields(control)
        guard let name = fields["package"], name.wholeMatch(of: /[a-z0-9][a-z0-9+.\-]+/) != nil,
            let version = fields["version"], version.wholeMatch(of: /(?:[0-9]+:)?[A-Za-z0-9.+~\-]+/) != nil,
            let architecture = fields["architecture"], architecture.wholeMatch(of: /[a-z0-9][a-z0-9\-]*/) != nil
        else {
            throw DeliveryProblem(
                .invalid, "\(file.name) has no Package, Version and Architecture that a Debian package may have")
        }
        (self.name, self.version, self.architecture, sha256) = (name, version, architecture, file.sha256)
        // Epochs are not part of names of files.
        let short = version.split(separator: ":").last.map(String.init) ?? version
        let folder = name.hasPrefix("lib") ? name.prefix(4) : name.prefix(1)
        let path = "pool/\(component)/\(folder)/\(name)/\(name)_\(short)_\(architecture).deb"
        let lines = control.split(whereSeparator: \.isNewline).filter { line in
            !["filename:", "size:", "sha256:", "md5sum:", "sha1:"].contains { line.lowercased().hasPrefix($0) }
        }
        paragraph = (lines.map(String.init) + ["Filename: \(path)", "Size: \(file.bytes)", "SHA256: \(file.sha256)"])
            .joined(separator: "\n")
    }

    /// Where its file is, below the repository.
    var path: String { Self.fields(paragraph)["filename"] ?? "" }

    /// The packages of an index.
    static func all(in index: String) -> [DebianPackage] {
        index.components(separatedBy: "\n\n").compactMap {
            DebianPackage(paragraph: $0.trimmingCharacters(in: .newlines))
        }
    }

    /// The first lines of fields, by name in lower case.
    static func fields(_ text: String) -> [String: String] {
        var found: [String: String] = [:]
        for line in text.split(whereSeparator: \.isNewline) where line.first?.isWhitespace == false {
            guard let colon = line.firstIndex(of: ":") else { continue }
            let name = line[..<colon].lowercased()
            if found[name] == nil {
                found[name] = line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces)
            }
        }
        return found
    }
}
