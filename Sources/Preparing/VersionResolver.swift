import Foundation
package import Git
package import Pipeline
package import Results

/// Finds out which version a commit is, by the rule of its workflow.
package struct VersionResolver {
    /// The repository that has the commit.
    let repository: Repository
    let commit: OID
    /// The tag that started the run.
    let tag: String?

    package init(repository: Repository, commit: OID, tag: String?) {
        self.repository = repository
        self.commit = commit
        self.tag = tag
    }

    /// - Throws: ``VersionProblem`` if the rule gives no usable version; `GitError`.
    package func version(by rule: VersionRule) throws -> ReleaseVersion {
        let number = try repository.walk(from: commit, excluding: [], limit: nil, firstParent: true).count
        let version: String
        var marketing: String?
        switch rule {
        case .tag(let prefix):
            guard let tag else {
                throw VersionProblem("the version comes from a tag, but no tag started the run: push a tag \(prefix)…")
            }
            guard tag.hasPrefix(prefix) else {
                throw VersionProblem(
                    "the tag \(tag) does not begin with \"\(prefix)\", which the workflow's .tag() drops from it: push a tag "
                        + "\(prefix)…, or write .tag(prefix: \"\") for tags without a prefix")
            }
            version = String(tag.dropFirst(prefix.count))
        // The tag of a version has a v, the version itself has none.
        case .file(let path): version = try text(of: path).replacing(/^[vV](?=[0-9])/, with: "")
        case .counted(let base): (version, marketing) = ("\(base).\(number)", base)
        }
        guard version != ReleaseVersion.newest else {
            throw VersionProblem(
                "\"\(version)\" can't be a version, since commands take it for the newest release: use a number such as 1.2.0"
            )
        }
        guard ReleaseVersion.isUsable(version) else {
            throw VersionProblem(
                "\"\(version.prefix(100))\" can't be a version: write at most 100 ASCII letters, digits and .-+_~, "
                    + "without \"..\"")
        }
        return ReleaseVersion(
            version: version, marketing: marketing, buildNumber: number, tag: tag ?? "v\(version)")
    }

    /// Checks that the version's tag, if it exists, is at the commit: a tag says everywhere which commit a version is.
    ///
    /// - Parameter source: The repository that has the tags.
    /// - Throws: ``VersionProblem`` if it is at another one.
    static func check(_ version: ReleaseVersion, of commit: OID, in source: Repository) throws {
        guard let tag = try source.ref("refs/tags/\(version.tag)") else { return }
        guard let there = try? source.resolve("\(tag.hex)^{commit}"), there != commit else { return }
        throw VersionProblem(
            "the tag \(version.tag) is at commit \(there.hex.prefix(10)), and this is \(commit.hex.prefix(10)): raise the "
                + "version, or remove the tag if nobody has it yet")
    }

    private func text(of path: String) throws -> String {
        if try repository.entry(path, at: commit)?.kind == .symlink {
            throw VersionProblem("\(path) is a link, whose target could be anywhere: name the file itself")
        }
        guard let bytes = try repository.smallFile(path, at: commit, atMost: 1 << 20) else {
            throw VersionProblem("the version comes from \(path), which commit \(commit.hex.prefix(10)) does not have")
        }
        guard let found = Self.version(in: bytes, named: path) else {
            throw VersionProblem(
                "\(path) names no version: a Swift or TOML file needs a line `version = \"1.2.0\"`, a property list "
                    + "CFBundleShortVersionString, a JSON file \"version\", any other file the version in its first line"
            )
        }
        return found
    }

    static func version(in bytes: [UInt8], named path: String) -> String? {
        let text = String(decoding: bytes, as: UTF8.self)
        switch path.split(separator: ".").last {
        case "swift", "toml": return assignedVersion(in: text)
        case "plist": return plistVersion(in: Data(bytes))
        case "json": return (try? JSONDecoder().decode(NamedVersion.self, from: Data(bytes)))?.version
        default:
            return text.split(whereSeparator: \.isNewline).first.map { $0.trimmingCharacters(in: .whitespaces) }
        }
    }

    private struct NamedVersion: Decodable { var version: String }

    /// The string of the first line such as `let version = "1.2.0"`.
    private static func assignedVersion(in text: String) -> String? {
        for line in text.split(whereSeparator: \.isNewline) {
            let line = line.trimmingCharacters(in: .whitespaces)
            guard !line.hasPrefix("//"), !line.hasPrefix("#"),
                let match = line.firstMatch(of: /\b[vV]ersion\s*(?::\s*String\s*)?=\s*"([^"\\]+)"/)
            else { continue }
            return String(match.output.1)
        }
        return nil
    }

    private static func plistVersion(in data: Data) -> String? {
        let list = try? PropertyListSerialization.propertyList(from: data, format: nil) as? [String: Any]
        let version = list?["CFBundleShortVersionString"] as? String
        // Xcode fills in such a variable; the project file has its value.
        return version?.contains("$(") == true ? nil : version
    }
}

/// Why a commit has no version.
struct VersionProblem: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}
