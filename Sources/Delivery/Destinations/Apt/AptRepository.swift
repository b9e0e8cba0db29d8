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

    /// Adds packages and their indices, which no client sees before ``show(_:_:)``.
    ///
    /// - Returns: The text of `Release`.
    /// - Throws: ``DeliveryProblem`` with `.conflict` where a version is there with other bytes.
    func add(_ packages: [(DebianPackage, ReleaseFile)], at date: Date) throws -> String {
        for (package, file) in packages { try store(package, file) }
        for architecture in Set(packages.map(\.0.architecture)) {
            let mine = packages.map(\.0).filter { $0.architecture == architecture }
            try writeIndex(architecture, mine)
        }
        return try release(at: date)
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

    private func index(_ architecture: String) -> FilePath {
        dists.appending(component).appending("binary-\(architecture)")
    }

    /// Writes the index of an architecture with the packages that were there and the new ones, also by its digest.
    private func writeIndex(_ architecture: String, _ new: [DebianPackage]) throws {
        let folder = index(architecture)
        let byHash = folder.appending("by-hash").appending("SHA256")
        try FileManager.default.createDirectory(atPath: byHash.string, withIntermediateDirectories: true)
        // The newest state that was written: clients that have seen an older one lose nothing.
        let next = folder.appending(".next")
        let known = try text(next) ?? text(folder.appending("Packages")) ?? ""
        var all = DebianPackage.all(in: known)
        for package in new {
            if let same = all.first(where: { $0.identity == package.identity }) {
                guard same.sha256 == package.sha256 else { throw conflict(package) }
                continue
            }
            all.append(package)
        }
        all.sort { ($0.name, $0.version) < ($1.name, $1.version) }
        let bytes = Array(all.map { $0.paragraph + "\n" }.joined(separator: "\n").utf8)
        for (_, form) in try Self.forms(bytes) {
            let digest = Self.digest(form)
            let path = byHash.appending(digest)
            if try DurableFiles.sha256(path) != digest { try DurableFiles.write(form, to: path) }
        }
        try DurableFiles.write(bytes, to: next)
    }

    /// An index as clients may ask for it.
    private static func forms(_ bytes: [UInt8]) throws -> [(name: String, bytes: [UInt8])] {
        [("Packages", bytes), ("Packages.gz", try Gzip.compress(bytes))]
    }

    /// The text of `Release`: the shown one, if it names the same indices and is valid for long enough.
    private func release(at date: Date) throws -> String {
        var sums: [String] = []
        var architectures: Set<String> = []
        var components: Set<String> = []
        for place in try indices() {
            guard let bytes = try bytes(place.folder.appending(".next")) ?? bytes(place.folder.appending("Packages"))
            else {
                continue
            }
            architectures.insert(place.architecture)
            components.insert(place.component)
            for (name, form) in try Self.forms(bytes) {
                sums.append(
                    " \(Self.digest(form)) \(form.count) \(place.component)/binary-\(place.architecture)/\(name)")
            }
        }
        let fields = [
            "Suite: \(suite)", "Codename: \(suite)", "Architectures: \(architectures.sorted().joined(separator: " "))",
            "Components: \(components.sorted().joined(separator: " "))", "Acquire-By-Hash: yes", "SHA256:",
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

    private func indices() throws -> [(component: String, architecture: String, folder: FilePath)] {
        let files = FileManager.default
        var found: [(String, String, FilePath)] = []
        for component in try files.contentsOfDirectory(atPath: dists.string).sorted() {
            let place = dists.appending(component)
            for name in ((try? files.contentsOfDirectory(atPath: place.string)) ?? []).sorted()
            where name.hasPrefix("binary-") {
                found.append((component, String(name.dropFirst(7)), place.appending(name)))
            }
        }
        return found
    }

    /// Shows clients what was added.
    func show(_ text: String, _ signed: SignedRelease) throws {
        try DurableFiles.write(signed.publicKey, to: root.appending("key.gpg"))
        try DurableFiles.write(signed.clear, to: dists.appending("InRelease"))
        // For clients that know no `InRelease`, or no digests in paths.
        for place in try indices() {
            guard let bytes = try bytes(place.folder.appending(".next")) else { continue }
            for (name, form) in try Self.forms(bytes) {
                try DurableFiles.write(form, to: place.folder.appending(name))
            }
        }
        try DurableFiles.write(signed.detached, to: dists.appending("Release.gpg"))
        try DurableFiles.write(text.utf8, to: dists.appending("Release"))
    }

    /// Whether everything that ``show(_:_:)`` writes after `InRelease` is there.
    func isShown(_ text: String) -> Bool {
        guard (try? self.text(dists.appending("Release"))) == text, let places = try? indices() else { return false }
        return places.allSatisfy { place in
            guard let next = try? bytes(place.folder.appending(".next")), let forms = try? Self.forms(next) else {
                return true
            }
            return forms.allSatisfy { (try? bytes(place.folder.appending($0.name))) == $0.bytes }
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
