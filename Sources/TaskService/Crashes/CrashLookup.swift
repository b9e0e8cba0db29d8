package import Archive
import CrashReports
import Concurrency
package import Delivery
import Foundation
import Git
import Pipeline
package import Results
import Sandbox
package import Store
import TerminalText

/// Finds out about a crash what releases, their symbols and the repository say.
package struct CrashLookup: Sendable {
    private let index: Store.Index
    private let archive: ArchiveStore
    private let releases: ReleaseFolders
    /// A folder for what is unpacked, which is removed at the end.
    private let scratch: String
    private let compiler: @Sendable () async -> String?

    /// - Parameters:
    ///   - releases: The folders with the files of releases.
    ///   - scratch: A folder of the daemon on a disk with room.
    ///   - compiler: The path of Swift's compiler, beside which its symbolizer may be; nil: only `PATH` is searched.
    package init(
        index: Store.Index, archive: ArchiveStore, releases: ReleaseFolders, scratch: String,
        compiler: @escaping @Sendable () async -> String?
    ) {
        self.index = index
        self.archive = archive.reading(index)
        self.releases = releases
        self.scratch = scratch
        self.compiler = compiler
    }

    /// Reads a report and looks it up.
    ///
    /// - Parameter version: The version that the program said of itself, where the report does not.
    /// - Throws: ``CrashReportError`` if the bytes are no crash report; what the store and Git throw.
    package func lookUp(_ bytes: [UInt8], version: String? = nil, in place: CrashPlace) async throws -> LookedUpCrash {
        var read = try CrashReport.read(bytes)
        if read.version == nil { read.version = version.map { TerminalText.name($0, limit: 100) } }
        let all = try await index.versions(of: place.repository, limit: Self.mostReleases)
        let (release, files, unpacked) = await releaseAndSymbols(of: read, among: all)
        let tools = await compiler().map {
            URL(fileURLWithPath: $0).resolvingSymlinksInPath().deletingLastPathComponent()
        }
        let report = await Symbolicator(tools: tools?.path, run: SymbolTool.run).symbolicated(read, with: files)
        // The tools have read them.
        if let unpacked { try? FileManager.default.removeItem(atPath: unpacked) }
        let newer = release.flatMap { found in all.first { $0.state != .yanked && $0.version != found.version } }
        let code = try await code(of: report, release, newer, in: place)
        var crash = TaskCrash(
            signature: report.signature, title: report.title, release: release?.version, commit: release?.commit)
        crash.frames = zip(report.frames, code.places).filter(\.0.isOwn).prefix(20).map { frame, place in
            TaskCrash.Frame(
                function: frame.function ?? frame.image ?? "unknown", file: place?.file, line: place?.line)
        }
        let landed = await landed(in: release)
        let context = CrashContext(report: report, release: release, landed: landed, code: code)
        return LookedUpCrash(
            report: report, crash: crash, release: release, outdated: code.outdated, context: context.markdown)
    }

    /// What a crash means for the last task with its signature.
    package func news(of findings: LookedUpCrash, after task: TaskRecord?, in place: CrashPlace) async throws
        -> CrashNews
    {
        guard let task, let landed = task.landedCommit, let crashed = findings.release?.commit,
            let one = OID(hex: landed), let other = OID(hex: crashed)
        else { return CrashNews(task: task, hasChange: nil) }
        let hasChange = try await withRepository(at: place.store) { repository in
            guard repository.contains(one), repository.contains(other) else { return nil as Bool? }
            return try repository.isAncestor(one, of: other)
        }
        return CrashNews(task: task, hasChange: hasChange)
    }

    /// The releases that are looked at.
    private static let mostReleases = 1_000
    /// The newest releases whose symbols are compared with a report that names no version.
    private static let mostCompared = 5

    /// The release that the report names or whose symbols have the program's build, its symbols, and the folder that they
    /// were unpacked in.
    private func releaseAndSymbols(
        of report: CrashReport, among all: [ReleaseRecord]
    ) async -> (ReleaseRecord?, DebugFiles, unpacked: String?) {
        let named = Self.release(of: report, among: all)
        // A version that no release has is that of another program, or of a build of somebody's own.
        let candidates = named.map { [$0] } ?? (report.version == nil ? Array(all.prefix(Self.mostCompared)) : [])
        let own = Set(report.frames.filter(\.isOwn).compactMap(\.image))
        let wanted = report.images.filter { own.contains($0.name) && $0.identifier != nil }
        guard !wanted.isEmpty else { return (named, DebugFiles(), nil) }
        for release in candidates {
            let artifacts = (try? await archive.report(release.run))?.artifacts ?? []
            let symbols = ReleaseSymbols(archive: archive, releases: releases, scratch: scratch)
            let (files, folder) = await symbols.files(
                of: release, artifacts,
                until: { files in
                    wanted.allSatisfy { files.entry(for: $0) != nil }
                })
            if named != nil || wanted.contains(where: { files.entry(for: $0) != nil }) {
                return (release, files, folder)
            }
            if let folder { try? FileManager.default.removeItem(atPath: folder) }
        }
        return (named, DebugFiles(), nil)
    }

    /// The release with the version and build number of the report, else with its version, else the only one with its
    /// build number.
    static func release(of report: CrashReport, among all: [ReleaseRecord]) -> ReleaseRecord? {
        if let version = report.version {
            let bare = version.hasPrefix("v") ? String(version.dropFirst()) : version
            let number = report.build.flatMap(Int.init)
            if let found = all.first(where: { $0.marketingVersion == bare && $0.buildNumber == number }) {
                return found
            }
            if let found = all.first(where: { $0.version == version || $0.version == bare }) { return found }
            // Of a release without a marketing version, 1.4 stands for 1.4.317.
            if let build = report.build, let found = all.first(where: { $0.version == "\(bare).\(build)" }) {
                return found
            }
        }
        guard let build = report.build.flatMap(Int.init) else { return nil }
        let same = all.filter { $0.buildNumber == build }
        return same.count == 1 && report.version.map { same[0].version.hasPrefix($0) } != false ? same[0] : nil
    }

    private func landed(in release: ReleaseRecord?) async -> [String] {
        guard let release, let request = try? await archive.request(release.run) else { return [] }
        return request.mergedChanges.map(\.name)
    }

    /// The places of the calls in the repository, with their code and its history.
    private func code(
        of report: CrashReport, _ release: ReleaseRecord?, _ newer: ReleaseRecord?, in place: CrashPlace
    ) async throws -> CrashCode {
        let known = release.flatMap { OID(hex: $0.commit) }
        let tip = OID(hex: place.tip)
        let later = newer.flatMap { OID(hex: $0.commit) }
        return try await withRepository(at: place.store) { repository in
            // A release of before the repository was watched anew may be gone.
            guard let commit = [known, tip].compactMap({ $0 }).first(where: { repository.contains($0) }) else {
                return CrashCode(commit: place.tip, isOfRelease: false, report)
            }
            var code = CrashCode(commit: commit.hex, isOfRelease: commit == known, report)
            try code.find(in: repository, at: commit)
            if let later, let newer, commit == known, repository.contains(later),
                try repository.isAncestor(commit, of: later)
            {
                try code.compare(with: later, version: newer.version, in: repository)
            }
            return code
        }
    }
}

/// Starts the tools that read symbols.
enum SymbolTool {
    static let run: SymbolToolRun = { program, arguments, input in
        if program.contains("/"), !FileManager.default.isExecutableFile(atPath: program) { return nil }
        var command = ExternalCommand(
            program, arguments, environment: environment, deadline: .seconds(60), outputLimit: 16 << 20)
        command.input = Array(input.utf8)
        guard let result = try? await command.run(), result.succeeded, result.droppedBytes == 0 else { return nil }
        return result.text
    }

    /// Nothing that could make the tools fetch symbols elsewhere.
    private static let environment = [
        "PATH": ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin", "LC_ALL": "C", "DEBUGINFOD_URLS": "",
    ]
}
