import Engine
import Foundation
package import WorkflowPrograms

/// A repository as `init` sees it: its name, its branch, and what can be built and tested in it.
package struct SeedProject {
    /// The repository's top folder.
    package let directory: String
    /// The parsed manifest of a Swift package at the top; nil if there is none, or SwiftPM can't read it.
    package var manifest: PackageManifest?

    /// - Parameter directory: The repository's top folder.
    package init(directory: String) { self.directory = directory }

    /// The name for archives: that of the package, otherwise that of the folder, in characters that never need quoting.
    var name: String {
        let folder = URL(fileURLWithPath: directory).standardizedFileURL.lastPathComponent
        let text = SeedFolder(top: directory).text("Package.swift")
        let package = manifest?.name ?? text?.firstMatch(of: /Package\(\s*name:\s*"([^"]+)"/).map { String($0.1) }
        let plain = (package ?? folder).filter { $0.isASCII && ($0.isLetter || $0.isNumber || "._-".contains($0)) }
            .drop { "._-".contains($0) }
        return plain.isEmpty ? "release" : String(plain)
    }

    /// The branch that changes go into: the remote's default branch, otherwise `main` or `master`, otherwise the
    /// current one.
    var branch: String {
        guard let (own, common) = gitFolders else { return "main" }
        func name(in file: String, after prefix: String) -> String? {
            guard let text = text(file)?.trimmingCharacters(in: .whitespacesAndNewlines), text.hasPrefix(prefix)
            else { return nil }
            return String(text.dropFirst(prefix.count))
        }
        if let remote = name(in: "\(common)/refs/remotes/origin/HEAD", after: "ref: refs/remotes/origin/") {
            return remote
        }
        let packed = text("\(common)/packed-refs")?.split(separator: "\n") ?? []
        for candidate in ["main", "master"] {
            let ref = "refs/heads/\(candidate)"
            let isLoose = FileManager.default.fileExists(atPath: "\(common)/\(ref)")
            if isLoose || packed.contains(where: { $0.hasSuffix(" \(ref)") }) { return candidate }
        }
        return name(in: "\(own)/HEAD", after: "ref: refs/heads/") ?? "main"
    }

    /// Whether the folder is the top of a Git working tree.
    package var isRepository: Bool { gitFolders != nil }

    /// The top of the working tree that contains the folder, if it is another folder.
    package var enclosingRepository: String? {
        var folder = URL(fileURLWithPath: directory).standardizedFileURL
        while folder.pathComponents.count > 1 {
            folder = folder.deletingLastPathComponent()
            if SeedProject(directory: folder.path).isRepository { return folder.path }
        }
        return nil
    }

    /// The folder that all working trees of the repository share, usually `.git`.
    var sharedGitFolder: String? { gitFolders?.common }

    /// Git's index of this working tree.
    var indexFile: String? { gitFolders.map { "\($0.own)/index" } }

    /// This working tree's own Git folder, and the one that all working trees of the repository share.
    private var gitFolders: (own: String, common: String)? {
        let git = "\(directory)/.git"
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: git, isDirectory: &isFolder) else { return nil }
        if isFolder.boolValue { return (git, git) }
        // In a linked working tree or a submodule, `.git` is a file that names the folder (gitrepository-layout(5)).
        guard let line = text(git)?.split(separator: "\n").first, line.hasPrefix("gitdir: ") else { return nil }
        let own = absolute(String(line.dropFirst("gitdir: ".count)), from: directory)
        let common = text("\(own)/commondir")?.split(separator: "\n").first.map { absolute(String($0), from: own) }
        return (own, common ?? own)
    }

    private func absolute(_ path: String, from folder: String) -> String {
        URL(fileURLWithPath: path, relativeTo: URL(fileURLWithPath: folder, isDirectory: true)).standardizedFileURL.path
    }

    private func text(_ path: String) -> String? { try? String(contentsOfFile: path, encoding: .utf8) }
}
