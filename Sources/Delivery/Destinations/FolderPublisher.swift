import Concurrency
import Foundation
import Results
import SystemPackage

/// Publishes into a folder of this machine: the files in a folder of the version's name, which is there whole or not at
/// all.
struct FolderPublisher: Publisher {
    let folder: String
    /// Where a web server shows it.
    var address: String?

    func publish(
        _ release: ReleaseContent, progress: any PublishingProgress, say: @escaping @Sendable (String) -> Void
    ) async throws -> Publication {
        try PublishedName.check(release)
        guard folder.hasPrefix("/") else {
            throw DeliveryProblem(.invalid, "\"\(PublishedName.shown(folder))\" is not an absolute path; write one")
        }
        let place = FilePath(folder).appending(release.version)
        try await DeliveryProblem.alone(in: folder) {
            let isThere = try await change {
                try Self.removeParts(release, in: FilePath(folder))
                let isThere = FileManager.default.fileExists(atPath: place.string)
                if isThere { try Self.compare(release, place) } else { try Self.write(release, in: FilePath(folder)) }
                return isThere
            }
            if isThere { return }
            do { try await progress.confirm() } catch {
                try await change { try Self.removeParts(release, in: FilePath(folder)) }
                throw error
            }
            try await change { try DurableFiles.move(FilePath(folder).appending(release.partName), to: place) }
        }
        say("\(release.files.count) files are in \(place)")
        let shown = address.map { "\($0.hasSuffix("/") ? String($0.dropLast()) : $0)/\(release.version)/" }
        let hasPage = release.files.contains { $0.name == OverTheAirPage.pageName }
        return Publication(
            state: .released, address: shown ?? place.string,
            install: hasPage ? shown.map { $0 + OverTheAirPage.pageName } : nil)
    }

    private func change<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await onOwnThread { try DeliveryProblem.machine("publishing in \(folder)", body) }
    }

    /// - Throws: ``DeliveryProblem`` with `.conflict` where the folder has other files.
    private static func compare(_ release: ReleaseContent, _ place: FilePath) throws {
        let there = Set(try FileManager.default.contentsOfDirectory(atPath: place.string))
        let different =
            try release.files.filter {
                try DurableFiles.sha256(place.appending($0.name)) != $0.sha256
            }.map(\.name) + there.subtracting(release.files.map(\.name)).sorted()
        guard different.isEmpty else {
            throw DeliveryProblem(
                .conflict,
                "\(place) is there with other content (\(PublishedName.shown(different.prefix(3).joined(separator: ", ")))); a version is never replaced, so release a new one"
            )
        }
        // The one who wrote it may have been killed before this.
        try DurableFiles.flush(folder: place.removingLastComponent())
    }

    /// Removes what interrupted attempts have left of this version: nobody else writes here now, and it is not trusted.
    private static func removeParts(_ release: ReleaseContent, in folder: FilePath) throws {
        let (files, own, end) = (FileManager.default, release.partName, DurableFiles.unfinished)
        for name in try files.contentsOfDirectory(atPath: folder.string) {
            // Earlier versions of pipectl wrote the first name.
            let isPart =
                name == ".\(release.version)\(end)"
                || name.hasPrefix(".\(release.version)-") && name.hasSuffix(end) && name.utf8.count == own.utf8.count
            if isPart { try files.removeItem(atPath: folder.appending(name).string) }
        }
    }

    private static func write(_ release: ReleaseContent, in folder: FilePath) throws {
        let part = folder.appending(release.partName)
        try FileManager.default.createDirectory(atPath: part.string, withIntermediateDirectories: true)
        for file in release.files { try DurableFiles.copy(file, to: part.appending(file.name)) }
        try DurableFiles.flush(folder: part)
    }
}
