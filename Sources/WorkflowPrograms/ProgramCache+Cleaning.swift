public import Foundation
import Sandbox

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

extension ProgramCache {
    /// Removes programs that have not been loaded since `date`, the libraries that only they used, and leftovers of
    /// builds that were killed.
    ///
    /// - Parameter dryRun: Whether to return the paths without removing anything.
    /// - Returns: The paths that were removed.
    @discardableResult
    public func removeUnused(since date: Date, dryRun: Bool = false) async throws -> [String] {
        let files = FileManager.default
        var removed: [String] = []
        var usedLibraries: Set<String> = []
        func remove(_ path: String) {
            removed.append(path)
            if !dryRun { try? files.removeItem(atPath: path) }
        }
        let names = ((try? files.contentsOfDirectory(atPath: directory)) ?? []).sorted()
        for name in names where name.count == 64 && !name.contains("-") {
            let entry = "\(directory)/\(name)"
            try make(folder: "\(directory)/locks")
            // A program that is being built, or that another process waits to load, is in use.
            try await withProgramLock("\(directory)/locks/\(name)") {
                let manifest = "\(entry)/manifest.json"
                if age(of: FileStamp(path: manifest) == nil ? entry : manifest, before: date) { return remove(entry) }
                if let data = try? Data(contentsOf: URL(fileURLWithPath: manifest)),
                    let known = try? JSONDecoder().decode(ProgramManifest.self, from: data)
                {
                    usedLibraries.insert("library-\(known.inputs.library)")
                }
            }
        }
        for name in names {
            let left = ["building-", "copying-", "broken-"].contains { name.hasPrefix($0) }
            let unused = name.hasPrefix("library-") && !usedLibraries.contains(name)
            if left || unused, age(of: "\(directory)/\(name)", before: date) { remove("\(directory)/\(name)") }
        }
        if !isUntrusted { removed += try await untrusted.removeUnused(since: date, dryRun: dryRun) }
        return removed
    }

    private func age(of path: String, before date: Date) -> Bool {
        var info = stat()
        guard lstat(path, &info) == 0 else { return false }
        #if canImport(Darwin)
            let time = info.st_mtimespec
        #else
            let time = info.st_mtim
        #endif
        return Double(time.tv_sec) < date.timeIntervalSince1970
    }
}
