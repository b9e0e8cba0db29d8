import Foundation

/// The files with debug symbols below a folder, by the identifiers of the images that they belong to.
public struct DebugFiles: Sendable, Equatable {
    /// A file and the part of it that belongs to an image.
    public struct Entry: Sendable, Equatable {
        public var path: String
        public var slice: ObjectFile.Slice
    }

    /// By identifier, of which a shortened form is found, too.
    public private(set) var entries: [String: Entry] = [:]

    /// The most entries of folders that are looked at, and the deepest.
    static let limits = (entries: 20_000, depth: 16)

    public init() {}

    public init(below folder: String) { add(below: folder) }

    /// Looks through a folder. Links are not followed. It blocks.
    public mutating func add(below folder: String) {
        guard
            let walk = FileManager.default.enumerator(
                at: URL(filePath: folder), includingPropertiesForKeys: [.isRegularFileKey, .fileSizeKey],
                options: [.skipsHiddenFiles])
        else { return }
        var seen = 0
        for case let file as URL in walk {
            seen += 1
            if seen > Self.limits.entries { return }
            if walk.level > Self.limits.depth { walk.skipDescendants() }
            guard let values = try? file.resourceValues(forKeys: [.isRegularFileKey, .fileSizeKey]),
                values.isRegularFile == true, let size = values.fileSize, size > 64
            else { continue }
            add(file.path, size: size)
        }
    }

    /// Looks at one file. It blocks.
    public mutating func add(file path: String) {
        let size = try? FileManager.default.attributesOfItem(atPath: path)[.size] as? Int
        if let size, size > 64 { add(path, size: size) }
    }

    private mutating func add(_ path: String, size: Int) {
        guard let handle = FileHandle(forReadingAtPath: path) else { return }
        defer { try? handle.close() }
        let object = try? ObjectFile(size: size) { offset, count in
            try handle.seek(toOffset: UInt64(offset))
            return Array(try handle.read(upToCount: count) ?? Data())
        }
        for slice in object?.slices ?? [] {
            // A dSYM has the symbols; the program of the same build may have been stripped.
            if let earlier = entries[slice.identifier],
                earlier.path.contains(".dSYM/") || earlier.path.hasSuffix(".debug")
            {
                continue
            }
            entries[slice.identifier] = Entry(path: path, slice: slice)
        }
    }

    public func entry(for image: CrashReport.Image) -> Entry? {
        guard let identifier = image.identifier else { return nil }
        if let entry = entries[identifier] { return entry }
        // Some tools cut a build id.
        guard identifier.utf8.count >= 16 else { return nil }
        let longer = entries.filter { $0.key.hasPrefix(identifier) }
        return longer.count == 1 ? longer.first?.value : nil
    }
}
