import Foundation
package import Results
import Signing
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

    /// The end of the name of the file beside the folder that has the release's record.
    static let recordSuffix = ".json"

    /// The paths of all records. It blocks.
    func records() throws -> [String] {
        let files = FileManager.default
        guard files.fileExists(atPath: root) else { return [] }
        return try DeliveryProblem.machine("reading \(root)") {
            try files.contentsOfDirectory(atPath: root).sorted().map { "\(root)/\($0)" }.flatMap { folder in
                // What is no folder of ours has no releases.
                ((try? files.contentsOfDirectory(atPath: folder)) ?? []).sorted()
                    .filter { $0.hasSuffix(Self.recordSuffix) && !$0.hasPrefix(".") }.map { "\(folder)/\($0)" }
            }
        }
    }

    /// What is locked in the folder of a repository.
    enum Lock: String {
        /// Held while a release is made or sealed.
        case release = ".lock"
        /// Held while the record of a release is written.
        case record = ".record-lock"
    }

    /// The path of a lock, whose folder is made if it is missing. It blocks.
    func path(of lock: Lock, _ repository: String) throws -> String {
        let folder = "\(root)/\(Self.name(of: repository))"
        try DeliveryProblem.machine("making \(folder)") {
            try FileManager.default.createDirectory(
                atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        }
        return "\(folder)/\(lock.rawValue)"
    }

    func files(of release: ReleaseRecord) throws -> [ReleaseFile] {
        try Self.files(of: release, in: folder(of: release))
    }

    /// Checks that a release's folder has the files that were made and no others, and the notes that it was sealed with.
    /// Only its keys can tell whether the signed list in `release.json` is right.
    ///
    /// - Returns: They and those of its seal.
    static func files(of release: ReleaseRecord, in folder: String) throws -> [ReleaseFile] {
        let found = try files(in: folder)
        let sealing = [ReleaseManifest.fileName, ReleaseManifest.notesName]
        let made = found.filter { !sealing.contains($0.name) }
        var wrong = Set(made.map { ReleaseRecord.File(name: $0.name, bytes: $0.bytes, sha256: $0.sha256) })
            .symmetricDifference(release.files).map(\.name)
        // Until it is sealed, its notes can be edited.
        if [.sealed, .published].contains(release.state) {
            let notes = found.first { $0.name == ReleaseManifest.notesName }?.sha256
            if notes != FileDigests(of: Data(release.notes.utf8)).sha256Text { wrong.append(ReleaseManifest.notesName) }
            let isListed = found.contains { $0.name == ReleaseManifest.fileName }
            if release.keys?.isEmpty == false, !isListed { wrong.append(ReleaseManifest.fileName) }
        }
        // What an interrupted sealing has left of a draft is none of its files.
        guard let name = wrong.min() else { return release.state == .draft ? made : found }
        throw DeliveryProblem(
            .conflict,
            "\(name) in \(folder) is not as it was made: put back the files of the release from a copy, or release a "
                + "new version")
    }

    /// Makes the folder of a release: `fill` writes its files, then it appears at once.
    ///
    /// A folder that a crash has left before its release was recorded is replaced, but never one of a release that was
    /// sealed. It blocks.
    ///
    /// - Throws: ``DeliveryProblem``; what `fill` throws.
    func make(_ path: String, _ fill: (String) throws -> Void) throws {
        let place = FilePath(path)
        let temporary = place.removingLastComponent().appending("\(Self.begun)\(UInt64.random(in: .min ... .max))")
        let files = FileManager.default
        if files.fileExists(atPath: "\(path)/\(ReleaseManifest.notesName)") {
            throw DeliveryProblem(
                .conflict,
                "\(path) has a release that was sealed, and the index has forgotten it: raise the version, or move the "
                    + "folder away if it was never published")
        }
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

    /// The beginning of the names of folders that are being filled.
    private static let begun = ".new-"

    /// Removes the folders that a killed process was filling; nobody makes a release now. It blocks.
    ///
    /// - Returns: How many there were.
    func removeLeft() throws -> Int {
        let files = FileManager.default
        guard files.fileExists(atPath: root) else { return 0 }
        return try DeliveryProblem.machine("removing what is left in \(root)") {
            let left = try files.contentsOfDirectory(atPath: root).flatMap { folder in
                ((try? files.contentsOfDirectory(atPath: "\(root)/\(folder)")) ?? [])
                    .filter { $0.hasPrefix(Self.begun) }.map { "\(root)/\(folder)/\($0)" }
            }
            for path in left { try files.removeItem(atPath: path) }
            return left.count
        }
    }

    /// Removes the files of a release. It blocks.
    func remove(_ release: ReleaseRecord) throws { try Self.remove(folder(of: release)) }

    /// Removes a file or folder, if there is one. It blocks.
    static func remove(_ path: String) throws {
        guard FileManager.default.fileExists(atPath: path) else { return }
        try DeliveryProblem.machine("removing \(path)") { try FileManager.default.removeItem(atPath: path) }
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

    /// A repository's name as the name of one folder, which may also be in a URI.
    static func name(of repository: String) -> String {
        let plain = CharacterSet(charactersIn: "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_")
        let name = repository.addingPercentEncoding(withAllowedCharacters: plain) ?? ""
        return name.isEmpty ? "_" : name
    }
}
