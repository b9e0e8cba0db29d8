import Foundation
package import Results
import SystemPackage

/// The folders with the files of releases: one for each release, whole or not there.
package struct ReleaseFolders: Sendable {
    /// Absolute.
    let root: String

    package init(_ root: String) { self.root = root }

    /// The folder of a release. The commit is part of its name, so that no two releases share one.
    package func folder(of version: String, commit: String, repository: String) -> String {
        "\(root)/\(Self.name(of: repository))/\(version)-\(commit.prefix(12))"
    }

    package func folder(of release: ReleaseRecord) -> String {
        folder(of: release.version, commit: release.commit, repository: release.repository)
    }

    /// Makes the folder of a release: `fill` writes its files, then it appears at once.
    ///
    /// A folder that a crash has left before its release was recorded is replaced. It blocks.
    ///
    /// - Throws: ``DeliveryProblem``; what `fill` throws.
    func make(_ path: String, _ fill: (String) throws -> Void) throws {
        let place = FilePath(path)
        let temporary = place.removingLastComponent().appending(".new-\(UInt64.random(in: .min ... .max))")
        let files = FileManager.default
        try DeliveryProblem.machine("making \(path)") {
            try files.createDirectory(
                atPath: temporary.string, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
            do {
                try fill(temporary.string)
                try DurableFiles.flush(folder: temporary)
                if files.fileExists(atPath: path) { try files.removeItem(atPath: path) }
                try DurableFiles.move(temporary, to: place)
            } catch {
                try? files.removeItem(atPath: temporary.string)
                throw error
            }
        }
    }

    /// Writes a file in a folder, durably and at once: a reader sees all of it or what was there before. It blocks.
    func write(_ bytes: Data, _ name: String, in folder: String) throws {
        try DeliveryProblem.machine("writing \(name) in \(folder)") {
            try DurableFiles.write(bytes, to: FilePath(folder).appending(name))
        }
    }

    /// Copies a file, and checks that it is the one that is meant. It blocks.
    func copy(_ file: ReleaseFile, to folder: String) throws {
        try DeliveryProblem.machine("copying \(file.name) to \(folder)") {
            try DurableFiles.copy(file, to: FilePath(folder).appending(file.name))
        }
    }

    /// The files in a folder of a release, by name. It blocks.
    package static func files(in folder: String) throws -> [ReleaseFile] {
        try DeliveryProblem.machine("reading \(folder)") {
            try FileManager.default.contentsOfDirectory(atPath: folder).filter {
                !$0.hasPrefix(".") && !$0.hasSuffix(DurableFiles.unfinished)
            }.sorted().map { try file("\(folder)/\($0)") }
        }
    }

    /// A file, with its size and digest. It blocks.
    static func file(_ path: String) throws -> ReleaseFile {
        let bytes = try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int
        guard let bytes, let digest = try DurableFiles.sha256(FilePath(path)) else {
            throw DeliveryProblem(.machine, "\(path) is gone: run the workflow again")
        }
        return ReleaseFile(name: (path as NSString).lastPathComponent, path: path, bytes: bytes, sha256: digest)
    }

    /// A repository's name as the name of one folder.
    private static func name(of repository: String) -> String {
        let plain = CharacterSet(charactersIn: "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_")
        let name = repository.addingPercentEncoding(withAllowedCharacters: plain) ?? ""
        return name.isEmpty ? "_" : name
    }
}
