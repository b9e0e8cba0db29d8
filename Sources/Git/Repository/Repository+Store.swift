internal import CGit
internal import Foundation

extension Repository {
    /// The folder with the objects and shared refs, absolute. For a linked work tree, that of its main repository.
    public var commonDirectory: String {
        let path = git_repository_commondir(pointer).map { String(cString: $0) } ?? ""
        return path.count > 1 && path.hasSuffix("/") ? String(path.dropLast()) : path
    }

    /// All object folders that this repository reads, absolute: its own first, then those that it borrows from.
    ///
    /// libgit2 follows alternates of alternates only five levels deep, so a borrower names all of them.
    public func objectStores() -> [String] {
        var found: [String] = []
        var open = [commonDirectory + "/objects"]
        while let store = open.popLast() {
            // Foundation takes a tenth of a millisecond to standardise a path.
            let isPlain =
                store.hasPrefix("/") && !store.contains("/.") && !store.contains("//") && !store.hasSuffix("/")
            let absolute = isPlain ? store : URL(fileURLWithPath: store).standardizedFileURL.path
            guard !found.contains(absolute) else { continue }
            found.append(absolute)
            let text = (try? String(contentsOfFile: absolute + "/info/alternates", encoding: .utf8)) ?? ""
            let named = text.split(separator: "\n").filter { !$0.hasPrefix("#") }.map(String.init)
            open += named.reversed().map { $0.hasPrefix("/") ? $0 : absolute + "/" + $0 }
        }
        return found
    }

    /// Makes the object folder `objects` borrow from `stores`, by replacing its file in one step.
    static func writeAlternates(_ stores: [String], objects: String) throws(GitError) {
        let path = objects + "/info/alternates"
        let text = Data((stores.joined(separator: "\n") + "\n").utf8)
        guard (try? Data(contentsOf: URL(fileURLWithPath: path))) != text else { return }
        do {
            try FileManager.default.createDirectory(atPath: objects + "/info", withIntermediateDirectories: true)
            try text.write(to: URL(fileURLWithPath: path), options: .atomic)
        } catch {
            throw GitError(
                call: "alternates", code: .failed,
                message:
                    "\"\(path)\" could not be written: \(error.localizedDescription). Check its owner and the disk.")
        }
    }
}
