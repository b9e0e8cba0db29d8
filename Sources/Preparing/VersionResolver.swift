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
            guard version.prefixMatch(of: /[vV]?[0-9]/) != nil else {
                throw VersionProblem(
                    "the tag \(tag) names no version, since \"\(version)\" does not begin with a number: let the workflow start "
                        + "on .tag(matching: \"\(prefix)[0-9]*\") only")
            }
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
        guard let bytes = try repository.smallFile(path, at: commit, atMost: 16 << 20) else {
            throw VersionProblem("the version comes from \(path), which commit \(commit.hex.prefix(10)) does not have")
        }
        guard let found = try VersionFile.version(in: bytes, named: path) else {
            throw VersionProblem(
                "\(path) names no version: a Swift file needs a line `let version = \"1.2.0\"`, a TOML file `version` in "
                    + "[package], [project], [tool.poetry] or [workspace.package], a property list "
                    + "CFBundleShortVersionString, an Xcode project or .xcconfig file MARKETING_VERSION, a JSON file "
                    + "\"version\", any other file the version in its first line")
        }
        return found
    }
}

/// Why a commit has no version.
struct VersionProblem: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}
