/// Tests that are still written and not run: by a manifest, by a runner's settings, by a move out of the target.
struct HiddenTests {
    let files: [ChangedSource]
    let reading: SourceReading
    let surroundings: IntegrityCheck.Surroundings

    init(files: [ChangedSource], reading: SourceReading, _ surroundings: IntegrityCheck.Surroundings) {
        self.files = files
        self.reading = reading
        self.surroundings = surroundings
    }

    func breaches() -> [Breach] {
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
        for file in files where TestPaths.isSwiftManifest(file.path) {
            guard case .bytes(let old) = file.old, case .bytes(let new) = file.new else { continue }
            breaches += manifest(file.path, old, new)
        }
        return breaches + moved()
    }

    private func manifest(_ path: String, _ old: [UInt8], _ new: [UInt8]) -> [Breach] {
        let before: SwiftManifest
        let after: SwiftManifest
        do {
            before = try SwiftManifest(path: path, bytes: old)
            after = try SwiftManifest(path: path, bytes: new)
        } catch {
            return [
                Breach(
                    .unreadable, .unclear, message: "\(path) can't be read: \(error.message)", file: path,
                    line: error.line)
            ]
        }
        let paths = surroundings.paths().filter { TestPaths.isSwift($0) }
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

    /// Files with tests that were in a test target and are in none now, though the manifest is the same.
    private func moved() -> [Breach] {
        let places = Set(reading.new.map(\.file))
        var manifests: [String: (SwiftManifest?, SwiftManifest?)] = [:]
        return files.compactMap { file -> Breach? in
            guard let oldPath = file.oldPath, TestPaths.isSwift(file.path),
                places.contains(file.path) || !TestPaths.isTest(file.path),
                TestPaths.isTest(oldPath)
            else { return nil }
            let path = manifestPath(of: oldPath)
            if manifests[path] == nil {
                let sides = surroundings.file(path)
                manifests[path] = (
                    sides.old.flatMap { try? SwiftManifest(path: path, bytes: $0) },
                    sides.new.flatMap { try? SwiftManifest(path: path, bytes: $0) }
                )
            }
            guard let before = manifests[path]?.0, let after = manifests[path]?.1, before.builds(oldPath),
                !after.builds(file.path), !after.targets.isEmpty
            else { return nil }
            return Breach(
                .hiddenTests, message: "\(oldPath) was moved to \(file.path), which is in no test target",
                file: file.path)
        }
    }

    /// The manifest of the package that holds a file: the one beside `Tests/`.
    private func manifestPath(of path: String) -> String {
        guard let range = path.firstRange(of: "Tests/"), range.lowerBound > path.startIndex else {
            return "Package.swift"
        }
        let before = path[..<range.lowerBound]
        return before.hasSuffix("/") ? before + "Package.swift" : "Package.swift"
    }
}
