import Foundation
import TestSupport

/// The record of the disk shim: every call that changed the state folder, in an order that the kernel may have seen.
struct DiskJournal {
    enum Change {
        case write(offset: Int, bytes: [UInt8])
        case truncate(size: Int)
        case create, mkdir, unlink, rmdir, fsync, fdatasync
        case rename(to: String)
        case link(to: String)
        case symlink(text: String)
        /// pipectl reported something: bytes on its standard error.
        case say(String)
    }

    struct Entry {
        /// Relative to the state folder, beginning with a slash; empty for the folder itself.
        var path: String
        var change: Change
    }

    let entries: [Entry]

    init(contentsOf file: String) throws {
        let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: file)))
        var entries: [Entry] = []
        var index = 0
        while index < bytes.count {
            guard let end = bytes[index...].firstIndex(of: 10) else { break }
            let fields = String(decoding: bytes[index..<end], as: UTF8.self).components(separatedBy: "\t")
            guard fields.count == 5, let offset = Int(fields[3]), let size = Int(fields[4]), end + size < bytes.count
            else {
                throw Bench.Failure(description: "entry \(entries.count) of the journal: \(fields)")
            }
            let data = Array(bytes[(end + 1)..<(end + 1 + size)])
            index = end + 1 + size + 1
            let other = fields[2].removingPercentEncoding ?? ""
            let change: Change? =
                switch fields[0] {
                case "write": .write(offset: offset, bytes: data)
                case "truncate": .truncate(size: offset)
                case "create": .create
                case "mkdir": .mkdir
                case "unlink": .unlink
                case "rmdir": .rmdir
                case "fsync": .fsync
                case "fdatasync": .fdatasync
                case "rename": .rename(to: other)
                case "link": .link(to: other)
                case "symlink": .symlink(text: other)
                case "say": .say(String(decoding: data, as: UTF8.self))
                default: nil
                }
            guard let change else { throw Bench.Failure(description: "an unknown call: \(fields[0])") }
            entries.append(Entry(path: fields[1].removingPercentEncoding ?? "", change: change))
        }
        self.entries = entries
    }
}
