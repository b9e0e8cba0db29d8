import Foundation
package import Results
package import Signing
import SystemCalls
import SystemPackage

/// Copies the files of a release to the folder of a person, and checks each of them against the release's record.
package struct ReleaseCopy: Sendable {
    private let release: ReleaseRecord
    private let folder: String

    /// - Parameter folder: Where the daemon has the files, as an absolute path.
    package init(_ release: ReleaseRecord, in folder: String) { (self.release, self.folder) = (release, folder) }

    /// Copies the files. One that is in the target folder already is left there. It blocks.
    ///
    /// - Parameter target: A folder, which is made.
    /// - Returns: The names of the files.
    /// - Throws: ``DeliveryProblem``: `conflict` if a file of the release was changed, before any is copied; `invalid` if
    ///   the target can't be used or has another file of this name; `machine` if the machine failed.
    package func copy(to target: String) throws -> [String] {
        guard !target.isEmpty else { throw DeliveryProblem(.invalid, "name the folder for the files; . is this one") }
        guard FileManager.default.fileExists(atPath: folder) else {
            throw DeliveryProblem(.machine, "\(folder) is not there: put back the files of the release from a copy")
        }
        let files = try ReleaseFolders.files(of: release, in: folder)
        do { try FileManager.default.createDirectory(atPath: target, withIntermediateDirectories: true) } catch {
            throw DeliveryProblem(
                .invalid, "the folder \(target) can't be made: \(error.plainReason); name another one")
        }
        for file in files { try copy(file, to: FilePath(target)) }
        return files.map(\.name)
    }

    private func copy(_ file: ReleaseFile, to target: FilePath) throws {
        let path = target.appending(file.name)
        // Two commands may copy into one folder.
        let part = target.appending(".\(UUID().uuidString)\(DurableFiles.unfinished)")
        do {
            let there = try DurableFiles.sha256(path)
            if there == file.sha256 { return }
            guard there == nil else {
                throw DeliveryProblem(.invalid, "\(path) is another file; remove it, or name another folder")
            }
            // A file has its name only once all of it was checked.
            try DurableFiles.copy(file, to: part)
            try DurableFiles.move(part, to: path)
        } catch {
            try? FileManager.default.removeItem(atPath: part.string)
            if error is DeliveryProblem { throw error }
            throw DeliveryProblem(
                .machine, "\(path) can't be written: \(error.plainReason); check the folder, its owner and its space")
        }
    }
}

extension ReleaseManifest {
    /// The list of a release, as it is signed when publishing begins.
    ///
    /// - Parameters:
    ///   - notes: The SHA-256 of the notes; nil while they can still be edited.
    ///   - keys: The keys that sign it.
    package init(_ release: ReleaseRecord, notes: String? = nil, keys: [KeyID] = []) {
        self.init(
            repository: release.address ?? release.repository, version: release.version,
            buildNumber: release.buildNumber, tag: release.tag, commit: release.commit, tree: release.tree,
            madeAt: release.madeAt, workflow: release.workflow, runID: String(release.run),
            files: release.files.map { .init(name: $0.name, bytes: Int64($0.bytes), sha256: $0.sha256) },
            notesSHA256: notes, keyIDs: keys)
    }
}
