import Foundation
import Sandbox
import Reports
import Results
import StateFiles
import Store
import TerminalText

/// The files in which `landed` caches the commits that it read: one for each of the last few repositories.
struct LandedMemory: Sendable {
    private let folder: String

    /// Nil if there can be no cache; the command then reads all commits each time.
    init?(_ state: StateFolder) {
        folder = state.landed
        do {
            try state.create()
            try FileManager.default.createDirectory(
                atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        } catch { return nil }
    }

    /// The file for one repository. It removes files of repositories that were not used for the longest time.
    func file(of gitDirectory: String) -> String {
        let name = "\(BytesDigest.sha256(Array(gitDirectory.utf8)).prefix(16))"
        let others = ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []).filter { $0 != name }
        let byAge = others.map { "\(folder)/\($0)" }.sorted { Self.age($0) > Self.age($1) }
        for path in byAge.dropLast(Self.most - 1) { try? FileManager.default.removeItem(atPath: path) }
        return "\(folder)/\(name)"
    }

    private static let most = 8

    /// The file's age in seconds.
    private static func age(_ path: String) -> Double {
        let attributes = try? FileManager.default.attributesOfItem(atPath: path)
        return -((attributes?[.modificationDate] as? Date)?.timeIntervalSinceNow ?? -.infinity)
    }
}
