import Foundation
import TestSupport

/// A disk with a write cache, over a state folder: its possible contents after a power failure.
///
/// The model is that of a journaling file system (ext4's `data=ordered`, XFS). Changes of names reach the disk in
/// order, and a flush of any file or folder brings all earlier ones. Contents that were not flushed may be there or
/// not, page by page, in any combination; a file may have its new size with zeros in it.
struct DiskModel {
    private struct File {
        var durable: [UInt8] = []
        var pending: [DiskJournal.Change] = []
    }

    private enum Name {
        case file(Int), folder, link(String)
    }

    private static let page = 4_096
    private var files: [File] = []
    private var names: [String: Name] = [:]
    /// Changes of names that no flush has written to the disk, each with the names before it.
    private var unflushed: [[String: Name]] = []

    /// The folder as it is, entirely on the disk.
    init(_ folder: String) throws {
        let manager = FileManager.default
        let all = manager.enumerator(atPath: folder)
        while let name = all?.nextObject() as? String {
            let path = "\(folder)/\(name)"
            switch try manager.attributesOfItem(atPath: path)[.type] as? FileAttributeType {
            case .typeDirectory?: names["/\(name)"] = .folder
            case .typeSymbolicLink?: names["/\(name)"] = .link(try manager.destinationOfSymbolicLink(atPath: path))
            default:
                files.append(File(durable: [UInt8](manager.contents(atPath: path) ?? Data())))
                names["/\(name)"] = .file(files.count - 1)
            }
        }
    }

    mutating func apply(_ entry: DiskJournal.Entry) {
        let path = entry.path
        switch entry.change {
        case .say: break
        case .write, .truncate:
            guard case .file(let file)? = names[path] else { return }
            files[file].pending.append(entry.change)
        case .fsync:
            unflushed = []
            guard case .file(let file)? = names[path] else { return }
            flush(file)
        case .fdatasync:
            guard case .file(let file)? = names[path] else { return }
            let size = files[file].durable.count
            flush(file)
            // Names are written together with other metadata, and only then.
            if files[file].durable.count != size { unflushed = [] }
        case .create:
            files.append(File())
            set([path: .file(files.count - 1)])
        case .mkdir: set([path: .folder])
        case .symlink(let text): set([path: .link(text)])
        case .unlink, .rmdir: set([path: nil])
        case .link(let to): set([to: names[path]])
        case .rename(let to):
            var moved: [String: Name?] = [path: Name?.none, to: names[path]]
            for (name, value) in names where name.hasPrefix(path + "/") {
                moved.updateValue(nil, forKey: name)
                moved[to + name.dropFirst(path.count)] = value
            }
            set(moved)
        }
    }

    private mutating func flush(_ file: Int) {
        var all = Always()
        files[file].durable = content(file, &all)
        files[file].pending = []
    }

    private mutating func set(_ changes: [String: Name?]) {
        unflushed.append(names)
        for (path, name) in changes { names[path] = name }
    }

    /// Writes one of the states that a power failure at this moment may leave into `folder`, without compiled
    /// workflows.
    func write(to folder: String, _ random: inout some RandomNumberGenerator) throws {
        let lost = Int.random(in: 0...unflushed.count, using: &random)
        let kept = lost == 0 ? names : unflushed[unflushed.count - lost]
        for (path, name) in kept.sorted(by: { $0.key < $1.key }) where !path.hasPrefix("/programs") {
            // The kernel creates the content of the shared-memory file anew, and each start creates sockets.
            if path.hasSuffix("-shm") || path.hasSuffix(".sock") { continue }
            let place = folder + path
            switch name {
            case .folder:
                try FileManager.default.createDirectory(
                    atPath: place, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
            case .link(let text): try FileManager.default.createSymbolicLink(atPath: place, withDestinationPath: text)
            case .file(let file): try Data(content(file, &random)).write(to: URL(fileURLWithPath: place))
            }
        }
    }

    /// A file's content if each page that was not flushed is there or not, as `random` decides.
    private func content(_ file: Int, _ random: inout some RandomNumberGenerator) -> [UInt8] {
        var bytes = files[file].durable
        for change in files[file].pending {
            switch change {
            case .truncate(let size):
                guard Bool.random(using: &random) else { continue }
                if bytes.count > size { bytes.removeLast(bytes.count - size) }
                if bytes.count < size { bytes += [UInt8](repeating: 0, count: size - bytes.count) }
            case .write(let offset, let written):
                var start = 0
                while start < written.count {
                    let end = min(written.count, start + Self.page - (offset + start) % Self.page)
                    if Bool.random(using: &random) {
                        if bytes.count < offset + end {
                            bytes += [UInt8](repeating: 0, count: offset + end - bytes.count)
                        }
                        bytes.replaceSubrange(offset + start..<offset + end, with: written[start..<end])
                    }
                    start = end
                }
            default: break
            }
        }
        return bytes
    }
}

/// Keeps everything: `Bool.random` gives true for 0, and `Int.random(in: 0...n)` gives 0.
struct Always: RandomNumberGenerator {
    mutating func next() -> UInt64 { 0 }
}
