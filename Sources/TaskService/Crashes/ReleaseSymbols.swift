import Archive
import Concurrency
import CrashReports
import Delivery
import Foundation
import Results
import Sandbox

/// The debug symbols of a release, among its files and the artifacts of its run.
struct ReleaseSymbols: Sendable {
    let archive: ArchiveStore
    let releases: ReleaseFolders
    let scratch: String

    private struct Candidate {
        var name: String
        var path: String
        var rank: Int
    }

    /// The largest file that is looked into, and the most that are unpacked.
    static let mostBytes = 2 << 30
    static let mostArchives = 12

    /// Looks at one file after another, the likeliest first, until `isEnough`.
    ///
    /// - Returns: What was found, and the folder that it was unpacked in, which the caller removes.
    func files(
        of release: ReleaseRecord, _ artifacts: [ArtifactRecord], until isEnough: (DebugFiles) -> Bool
    ) async -> (DebugFiles, folder: String?) {
        let candidates = candidates(release, artifacts)
        guard !candidates.isEmpty else { return (DebugFiles(), nil) }
        removeLeftovers()
        let folder = "\(scratch)/symbols-\(UUID().uuidString)"
        guard
            (try? FileManager.default.createDirectory(
                atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])) != nil
        else { return (DebugFiles(), nil) }
        var found = DebugFiles()
        var unpacked = 0
        for (number, candidate) in candidates.enumerated() {
            let place = "\(folder)/\(number)"
            if Self.isArchive(candidate.name) {
                unpacked += 1
                guard unpacked <= Self.mostArchives,
                    await Self.unpack(candidate.path, named: candidate.name, into: place)
                else { continue }
                found = await with(found) { $0.add(below: place) }
            } else {
                found = await with(found) { $0.add(file: candidate.path) }
            }
            if isEnough(found) { break }
        }
        return (found, folder)
    }

    /// Removes what a process that was killed has unpacked.
    private func removeLeftovers() {
        let files = FileManager.default
        for name in (try? files.contentsOfDirectory(atPath: scratch)) ?? [] where name.hasPrefix("symbols-") {
            let changed = try? files.attributesOfItem(atPath: "\(scratch)/\(name)")[.modificationDate] as? Date
            if let changed, changed.timeIntervalSinceNow < -3_600 {
                try? files.removeItem(atPath: "\(scratch)/\(name)")
            }
        }
    }

    private func with(_ files: DebugFiles, _ change: @escaping @Sendable (inout DebugFiles) -> Void) async -> DebugFiles
    {
        let changed = try? await offThread {
            var files = files
            change(&files)
            return files
        }
        return changed ?? files
    }

    private func candidates(_ release: ReleaseRecord, _ artifacts: [ArtifactRecord]) -> [Candidate] {
        var seen: Set<String> = []
        var candidates: [Candidate] = []
        func add(_ name: String, bytes: Int, _ sha256: String, isExecutable: Bool, _ paths: [String?]) {
            guard bytes <= Self.mostBytes, let rank = Self.rank(name, isExecutable: isExecutable),
                seen.insert(sha256).inserted,
                let path = paths.compactMap({ $0 }).first(where: { FileManager.default.fileExists(atPath: $0) })
            else { return }
            candidates.append(Candidate(name: name, path: path, rank: rank))
        }
        for artifact in artifacts {
            add(
                (artifact.path as NSString).lastPathComponent, bytes: artifact.bytes, artifact.sha256,
                isExecutable: artifact.isExecutable, [archive.artifact(artifact.sha256)])
        }
        let folder = releases.folder(of: release)
        for file in release.files {
            add(
                file.name, bytes: file.bytes, file.sha256, isExecutable: false,
                ["\(folder)/\(file.name)", archive.artifact(file.sha256)])
        }
        return candidates.sorted { ($0.rank, $0.name) < ($1.rank, $1.name) }
    }

    /// How likely a file has symbols, the smallest first; nil if it has none.
    static func rank(_ name: String, isExecutable: Bool) -> Int? {
        let lower = name.lowercased()
        if lower.contains(".dsym") || lower.contains("dsyms") { return 0 }
        if lower.hasSuffix(".debug") || lower.contains("symbols") || lower.contains("debug") { return 1 }
        if isExecutable || lower.hasSuffix(".so") || !lower.contains(".") { return 2 }
        return isArchive(lower) ? 3 : nil
    }

    static func isArchive(_ name: String) -> Bool {
        [".zip", ".tar", ".tar.gz", ".tgz", ".tar.xz", ".tar.bz2", ".tar.zst"].contains {
            name.lowercased().hasSuffix($0)
        }
    }

    /// Unpacks with the system's tools, within a time and a size of each file.
    static func unpack(_ path: String, named name: String, into folder: String) async -> Bool {
        guard
            (try? FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)) != nil
        else { return false }
        let isZip = name.lowercased().hasSuffix(".zip")
        let tools =
            isZip
            ? [
                ["unzip", "-qq", "-o", path, "-d", folder], ["bsdtar", "-xf", path, "-C", folder],
                ["ditto", "-x", "-k", path, folder],
            ]
            : [["tar", "-xf", path, "-C", folder, "--no-same-owner"], ["bsdtar", "-xf", path, "-C", folder]]
        for tool in tools {
            // In blocks of 512 bytes: no file of it is larger than the largest that is read.
            let command = ExternalCommand(
                "/bin/sh", ["-c", "ulimit -f \(mostBytes / 512); exec \"$0\" \"$@\""] + tool, deadline: .seconds(300),
                outputLimit: 4 << 10)
            if let result = try? await command.run(), result.succeeded { return true }
        }
        return false
    }
}
