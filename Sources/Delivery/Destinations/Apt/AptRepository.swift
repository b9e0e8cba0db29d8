import Crypto
import ForgeConnection
import Foundation
import SystemPackage

/// An apt repository in a folder. All of it blocks.
///
/// Clients read `InRelease` first and then the indices that it names by their digests. So new files come first, then the
/// indices below `by-hash`, and `InRelease` last: a client sees the old state or the new one.
struct AptRepository: Sendable {
    let root: FilePath
    let suite: String
    let component: String
    /// For how many days clients believe `Release`; nil: for ever.
    var validForDays: Int?

    var dists: FilePath { root.appending("dists").appending(suite) }

    /// What clients are to see.
    struct State: Sendable {
        /// `Release`.
        var text: String
        var indices: [PackageIndex]
    }

    /// The packages of an architecture.
    struct PackageIndex: Sendable {
        var component: String
        var architecture: String
        /// `Packages`.
        var bytes: [UInt8]
    }

    /// Adds packages to what clients see, and writes what is needed for it. No client sees it before ``show(_:_:)``.
    ///
    /// What another release has added and not shown is left out.
    ///
    /// - Throws: ``DeliveryProblem`` with `.conflict` where a version is there with other bytes.
    func add(_ packages: [(DebianPackage, ReleaseFile)], at date: Date) throws -> State {
        var indices = try shown()
        for (package, file) in packages { try store(package, file) }
        for architecture in Set(packages.map(\.0.architecture)) {
            let place = indices.firstIndex { $0.component == component && $0.architecture == architecture }
            let known = place.map { indices.remove(at: $0).bytes } ?? []
            let mine = packages.map(\.0).filter { $0.architecture == architecture }
            indices.append(
                PackageIndex(component: component, architecture: architecture, bytes: try merged(known, mine)))
        }
        indices.sort { ($0.component, $0.architecture) < ($1.component, $1.architecture) }
        for index in indices { try writeByHash(index) }
        return State(text: try release(indices, at: date), indices: indices)
    }

    private func store(_ package: DebianPackage, _ file: ReleaseFile) throws {
        let path = root.appending(package.path)
        if let there = try DurableFiles.sha256(path) {
            guard there == package.sha256 else { throw conflict(package) }
            return
        }
        let folder = path.removingLastComponent()
        try FileManager.default.createDirectory(atPath: folder.string, withIntermediateDirectories: true)
        let part = FilePath(path.string + ".part")
        try DurableFiles.copy(file, to: part)
        try DurableFiles.move(part, to: path)
    }

    private func conflict(_ package: DebianPackage) -> DeliveryProblem {
        DeliveryProblem(
            .conflict,
            "\(package.identity) is in \(root) with other bytes; a version is never replaced, so release a new one")
    }

    private func folder(_ component: String, _ architecture: String) -> FilePath {
        dists.appending(component).appending("binary-\(architecture)")
    }

    private static func byHash(_ folder: FilePath) -> FilePath { folder.appending("by-hash").appending("SHA256") }

    /// The indices that clients see: `InRelease` is written first of the files that name them.
    private func shown() throws -> [PackageIndex] {
        guard let release = try text(dists.appending("InRelease")) ?? text(dists.appending("Release")) else {
            return []
        }
        let form =
            /\s+([0-9a-f]{64})\s+[0-9]+\s+([A-Za-z0-9][A-Za-z0-9._\-]*)\/binary-([a-z0-9][a-z0-9\-]*)\/Packages\s*/
        return try release.split(whereSeparator: \.isNewline).compactMap { line in
            guard let parts = line.wholeMatch(of: form) else { return nil }
            let (digest, component, architecture) = (String(parts.1), String(parts.2), String(parts.3))
            let folder = folder(component, architecture)
            for path in [Self.byHash(folder).appending(digest), folder.appending("Packages")] {
                guard let bytes = try bytes(path), Self.digest(bytes) == digest else { continue }
                return PackageIndex(component: component, architecture: architecture, bytes: try present(bytes))
            }
            throw DeliveryProblem(
                .machine,
                "\(folder) has not the list that InRelease names, so its packages are not known: put it back from a copy"
            )
        }
    }

    /// An index without the packages whose files a person has removed, as of a release that was withdrawn.
    private func present(_ index: [UInt8]) throws -> [UInt8] {
        let all = DebianPackage.all(in: String(decoding: index, as: UTF8.self))
        let files = FileManager.default
        let present = all.filter { files.fileExists(atPath: root.appending($0.path).string) }
        if present.count == all.count { return index }
        guard files.fileExists(atPath: root.appending("pool").string) else {
            throw DeliveryProblem(.machine, "\(root) has lists but no pool with the packages: put it back, or mount it")
        }
        return Self.index(present)
    }

    private static func index(_ packages: [DebianPackage]) -> [UInt8] {
        Array(packages.map { $0.paragraph + "\n" }.joined(separator: "\n").utf8)
    }

    /// An index with the packages that were in it and the new ones.
    private func merged(_ known: [UInt8], _ new: [DebianPackage]) throws -> [UInt8] {
        var all = DebianPackage.all(in: String(decoding: known, as: UTF8.self))
        for package in new {
            if let same = all.first(where: { $0.identity == package.identity }) {
                guard same.sha256 == package.sha256 else { throw conflict(package) }
                continue
            }
            all.append(package)
        }
        all.sort { ($0.name, $0.version) < ($1.name, $1.version) }
        return Self.index(all)
    }

    private func writeByHash(_ index: PackageIndex) throws {
        let folder = Self.byHash(folder(index.component, index.architecture))
        try FileManager.default.createDirectory(atPath: folder.string, withIntermediateDirectories: true)
        for (_, form) in try Self.forms(index.bytes) {
            let digest = Self.digest(form)
            let path = folder.appending(digest)
            if try DurableFiles.sha256(path) != digest { try DurableFiles.write(form, to: path) }
        }
    }

    /// An index as clients may ask for it.
    private static func forms(_ bytes: [UInt8]) throws -> [(name: String, bytes: [UInt8])] {
        [("Packages", bytes), ("Packages.gz", try Gzip.compress(bytes))]
    }

    /// The text of `Release`: the shown one, if it names the same indices and is valid for long enough.
    private func release(_ indices: [PackageIndex], at date: Date) throws -> String {
        let sums = try indices.flatMap { index in
            try Self.forms(index.bytes).map { name, form in
                " \(Self.digest(form)) \(form.count) \(index.component)/binary-\(index.architecture)/\(name)"
            }
        }
        let architectures = Set(indices.map(\.architecture)).sorted().joined(separator: " ")
        let components = Set(indices.map(\.component)).sorted().joined(separator: " ")
        let fields = [
            "Suite: \(suite)", "Codename: \(suite)", "Architectures: \(architectures)", "Components: \(components)",
            "Acquire-By-Hash: yes", "SHA256:",
        ]
        let rest = (fields + sums).joined(separator: "\n") + "\n"
        if let shown = try text(dists.appending("Release")), shown.hasSuffix("\n\(rest)"), isValid(shown, at: date) {
            return shown
        }
        return "Origin: pipectl\n\(times(from: date))\(rest)"
    }

    private static let day: TimeInterval = 86_400

    /// The lines of `Release` that say when it was made and until when it counts.
    private func times(from date: Date) -> String {
        let made = "Date: \(Self.dates.string(from: date))\n"
        guard let validForDays else { return made }
        let end = date + TimeInterval(validForDays) * Self.day
        return "\(made)Valid-Until: \(Self.dates.string(from: end))\n"
    }

    /// Whether a `Release` that is shown may stay: it has the wanted time, and at most half of it is over.
    private func isValid(_ shown: String, at date: Date) -> Bool {
        guard let made = DebianPackage.fields(shown)["date"].flatMap(Self.dates.date(from:)),
            shown.contains("\n\(times(from: made))Suite:")
        else { return false }
        return validForDays.map { date < made + TimeInterval($0) * Self.day / 2 } ?? true
    }

    private static var dates: DateFormatter {
        let format = DateFormatter()
        format.locale = Locale(identifier: "en_US_POSIX")
        format.timeZone = TimeZone(secondsFromGMT: 0)
        format.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'UTC'"
        return format
    }

    /// Shows clients what was added.
    func show(_ state: State, _ signed: SignedRelease) throws {
        try DurableFiles.write(signed.publicKey, to: root.appending("key.gpg"))
        try DurableFiles.write(signed.clear, to: dists.appending("InRelease"))
        // For clients that know no `InRelease`, or no digests in paths.
        for index in state.indices {
            let folder = folder(index.component, index.architecture)
            for (name, form) in try Self.forms(index.bytes) {
                try DurableFiles.write(form, to: folder.appending(name))
            }
            // Earlier versions of pipectl had the list there that was to be shown next.
            try? FileManager.default.removeItem(atPath: folder.appending(".next").string)
        }
        try DurableFiles.write(signed.detached, to: dists.appending("Release.gpg"))
        try DurableFiles.write(state.text.utf8, to: dists.appending("Release"))
    }

    /// Whether everything that ``show(_:_:)`` writes after `InRelease` is there.
    func isShown(_ state: State) throws -> Bool {
        guard try text(dists.appending("Release")) == state.text else { return false }
        return try state.indices.allSatisfy { index in
            let folder = folder(index.component, index.architecture)
            return try Self.forms(index.bytes).allSatisfy { try bytes(folder.appending($0.name)) == $0.bytes }
        }
    }

    private func bytes(_ path: FilePath) throws -> [UInt8]? {
        guard FileManager.default.fileExists(atPath: path.string) else { return nil }
        return Array(try Data(contentsOf: URL(filePath: path.string)))
    }

    private func text(_ path: FilePath) throws -> String? {
        try bytes(path).map { String(decoding: $0, as: UTF8.self) }
    }

    private static func digest(_ bytes: [UInt8]) -> String {
        SHA256.hash(data: bytes).map { String(format: "%02x", $0) }.joined()
    }
}
