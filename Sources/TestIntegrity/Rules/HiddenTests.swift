/// Tests that still exist but no longer run, because of a manifest, a runner's settings, or a move out of the test
/// target.
struct HiddenTests {
    let files: [ChangedSource]
    let reading: SourceReading
    let surroundings: IntegrityCheck.Surroundings

    init(files: [ChangedSource], reading: SourceReading, _ surroundings: IntegrityCheck.Surroundings) {
        self.files = files
        self.reading = reading
        self.surroundings = surroundings
    }

    func breaches(_ reader: any SwiftSourceReader, _ deadline: ContinuousClock.Instant) async -> [Breach] {
        var breaches: [Breach] = []
        for file in files where RunnerSettings.isSettings(file.path) {
            guard case .bytes(let new) = file.new else { continue }
            guard new.count <= RunnerSettings.byteLimit else {
                breaches.append(
                    Breach(
                        .unreadable, .unclear,
                        message:
                            "\(file.path) has \(new.count) bytes; at most \(RunnerSettings.byteLimit) bytes of a settings file are read",
                        file: file.path))
                continue
            }
            var old: [UInt8] = []
            if case .bytes(let bytes) = file.old { old = bytes }
            breaches += RunnerSettings.breaches(path: file.path, old: old, new: new)
        }
        let manifests = await manifests(reader, deadline)
        for file in files where TestPaths.isSwiftManifest(file.path) {
            if let pair = manifests[file.path] { breaches += await self.breaches(of: pair, at: file.path) }
        }
        return breaches + moved(manifests)
    }

    /// A manifest on the target and in the change.
    private struct ManifestPair {
        var old: Result<SwiftManifest, UnreadableSource>
        var new: Result<SwiftManifest, UnreadableSource>
    }

    /// The manifests that the change touches, and those of packages in which it moves tests. Leaves out a manifest that
    /// one side lacks.
    private func manifests(
        _ reader: any SwiftSourceReader, _ deadline: ContinuousClock.Instant
    ) async -> [String: ManifestPair] {
        var sides: [(path: String, old: [UInt8], new: [UInt8])] = []
        for file in files where TestPaths.isSwiftManifest(file.path) {
            guard case .bytes(let old) = file.old, case .bytes(let new) = file.new else { continue }
            sides.append((file.path, old, new))
        }
        for path in Set(files.filter(isMovedTest).map { manifestPath(of: $0.oldPath ?? $0.path) }).sorted()
        where !sides.contains(where: { $0.path == path }) {
            let (old, new) = await surroundings.file(path)
            if let old, let new { sides.append((path, old, new)) }
        }
        guard !sides.isEmpty else { return [:] }
        let results = await reader.read(
            sides.flatMap { [SwiftSource(.manifest, $0.old), SwiftSource(.manifest, $0.new)] }, before: deadline)
        var pairs: [String: ManifestPair] = [:]
        for (place, side) in sides.enumerated() {
            func manifest(_ place: Int) -> Result<SwiftManifest, UnreadableSource> {
                guard results.indices.contains(place) else {
                    return .failure(UnreadableSource("the reader did not answer"))
                }
                return results[place].map { SwiftManifest(path: side.path, facts: $0) }
            }
            pairs[side.path] = ManifestPair(old: manifest(2 * place), new: manifest(2 * place + 1))
        }
        return pairs
    }

    private func breaches(of pair: ManifestPair, at path: String) async -> [Breach] {
        let before: SwiftManifest
        let after: SwiftManifest
        do {
            before = try pair.old.get()
            after = try pair.new.get()
        } catch {
            return [
                Breach(
                    .unreadable, .unclear, message: "\(path) can't be read: \(error.message)", file: path,
                    line: error.line)
            ]
        }
        let paths = await surroundings.paths().filter { TestPaths.isSwift($0) }
        var breaches: [Breach] = []
        for target in before.targets {
            let other = after.targets.first { $0.name == target.name || $0.path == target.path }
            var alone = before
            alone.targets = [target]
            let lost = paths.filter { alone.builds($0) && !after.builds($0) && !TestPaths.isSwiftManifest($0) }
            if lost.isEmpty { continue }
            let shown = lost.prefix(3).joined(separator: ", ") + (lost.count > 3 ? " and \(lost.count - 3) more" : "")
            breaches.append(
                Breach(
                    .hiddenTests,
                    message: other == nil
                        ? "the test target \"\(target.name)\" is gone; \(shown) still present, but in no test target"
                        : "the test target \"\(target.name)\" leaves out \(shown)", file: path,
                    line: other?.line ?? target.line))
        }
        return breaches
    }

    /// Files with tests that were in a test target and are in none now, although the manifest is unchanged.
    private func moved(_ manifests: [String: ManifestPair]) -> [Breach] {
        let places = Set(reading.new.map(\.file))
        return files.compactMap { file -> Breach? in
            guard isMovedTest(file), let oldPath = file.oldPath,
                places.contains(file.path) || !TestPaths.isTest(file.path)
            else { return nil }
            let pair = manifests[manifestPath(of: oldPath)]
            guard let before = try? pair?.old.get(), let after = try? pair?.new.get(), before.builds(oldPath),
                !after.builds(file.path), !after.targets.isEmpty
            else { return nil }
            return Breach(
                .hiddenTests, message: "\(oldPath) was moved to \(file.path), which is in no test target",
                file: file.path)
        }
    }

    private func isMovedTest(_ file: ChangedSource) -> Bool {
        file.oldPath.map(TestPaths.isTest) ?? false && TestPaths.isSwift(file.path)
    }

    /// The path of the manifest of the file's package: the one beside `Tests/`.
    private func manifestPath(of path: String) -> String {
        guard let range = path.firstRange(of: "Tests/"), range.lowerBound > path.startIndex else {
            return "Package.swift"
        }
        let before = path[..<range.lowerBound]
        return before.hasSuffix("/") ? before + "Package.swift" : "Package.swift"
    }
}
