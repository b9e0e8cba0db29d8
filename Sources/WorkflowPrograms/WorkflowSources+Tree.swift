import Crypto
import Sandbox

extension WorkflowSources {
    /// The sources of a folder that is in no commit, with the id that Git would give to its tree.
    ///
    /// - Parameter files: The files below `workflows/`, without symbolic links.
    public init(files: [WorkflowFile]) {
        let entries = files.map { file in
            (path: file.path.split(separator: "/").dropFirst().map(String.init), file: file)
        }
        self.init(tree: WorkflowSources.hex(WorkflowSources.tree(of: entries[...])), files: files)
    }

    /// The id of a tree object (git-hash-object(1)): its entries sorted as if each folder's name ended with a slash.
    private static func tree(of files: ArraySlice<(path: [String], file: WorkflowFile)>) -> [UInt8] {
        var folders: [String: [(path: [String], file: WorkflowFile)]] = [:]
        var entries: [(order: [UInt8], bytes: [UInt8])] = []
        for (path, file) in files {
            guard let name = path.first else { continue }
            if path.count > 1 {
                folders[name, default: []].append((Array(path.dropFirst()), file))
            } else {
                let mode = file.isExecutable ? "100755" : "100644"
                entries.append((Array(name.utf8), Array("\(mode) \(name)\0".utf8) + id(of: "blob", file.bytes)))
            }
        }
        for (name, inside) in folders {
            entries.append((Array("\(name)/".utf8), Array("40000 \(name)\0".utf8) + tree(of: inside[...])))
        }
        entries.sort { $0.order.lexicographicallyPrecedes($1.order) }
        return id(of: "tree", entries.flatMap(\.bytes))
    }

    private static func id(of kind: String, _ bytes: [UInt8]) -> [UInt8] {
        // SHA-1 is Git's own id; where forgery matters, another digest is used.
        var hash = Insecure.SHA1()
        hash.update(data: Array("\(kind) \(bytes.count)\0".utf8))
        hash.update(data: bytes)
        return Array(hash.finalize())
    }

    private static func hex(_ bytes: [UInt8]) -> String { FileDigest.hex(bytes) }
}
