import Foundation

/// The changes that agents' configuration in a repository needs. Computing them writes nothing.
package struct AgentInstallation {
    /// In bytes; a larger file is no configuration file.
    private static let most = 1 << 20

    /// A file that is created or extended.
    package struct Change {
        /// Relative to the top of the repository.
        package var path: String
        /// The present text; nil if the file does not exist.
        package var old: String?
        /// The new text.
        package var new: String
        /// The file to write: the file itself, or the target of a link inside the repository.
        fileprivate var target: URL
    }

    /// Files that change.
    package private(set) var changes: [Change] = []
    /// Files that need no change.
    package private(set) var upToDate: [String] = []
    /// Files that are not changed, and the reasons.
    package private(set) var skipped: [(path: String, why: String)] = []

    /// - Parameter top: The top folder of the repository; nothing outside of it is written.
    package init(_ hosts: [AgentHost], command: String, top: String) {
        let root = URL(fileURLWithPath: top).resolvingSymlinksInPath().standardizedFileURL
        for file in hosts.flatMap({ $0.edits(command: command) }) {
            let url = root.appendingPathComponent(file.path)
            let target = Self.resolved(url)
            guard target.path.hasPrefix(root.path + "/") else {
                skipped.append((file.path, "it is a link to \(target.path), outside the repository"))
                continue
            }
            do {
                let old = try Self.read(target)
                let new = try file.edit(old ?? "")
                if new == old {
                    upToDate.append(file.path)
                } else {
                    changes.append(Change(path: file.path, old: old, new: new, target: target))
                }
            } catch {
                skipped.append((file.path, "\(error)"))
            }
        }
    }

    /// Writes the changes, each file as a whole or not at all.
    ///
    /// - Throws: ``FileChanged`` if a file has changed since it was read; the error of the system if it can't be
    ///   written.
    package func write() throws {
        for change in changes {
            try FileManager.default.createDirectory(
                at: change.target.deletingLastPathComponent(), withIntermediateDirectories: true)
            let known = try Self.read(change.target)
            guard known == change.old else {
                throw FileChanged(path: change.path)
            }
            let mode = try? FileManager.default.attributesOfItem(atPath: change.target.path)[.posixPermissions]
            try Data(change.new.utf8).write(to: change.target, options: .atomic)
            if let mode {
                try? FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: change.target.path)
            }
        }
    }

    /// The URL with all links on the way resolved, even if the last components don't exist yet.
    private static func resolved(_ url: URL) -> URL {
        if FileManager.default.fileExists(atPath: url.path) { return url.resolvingSymlinksInPath().standardizedFileURL }
        if (try? FileManager.default.destinationOfSymbolicLink(atPath: url.path)) != nil {
            // A link without a target: pipectl does not decide what to create behind it.
            return URL(fileURLWithPath: "/").appendingPathComponent(url.lastPathComponent)
        }
        let folder = url.deletingLastPathComponent()
        return folder.path == url.path ? url : resolved(folder).appendingPathComponent(url.lastPathComponent)
    }

    private static func read(_ url: URL) throws(JSONEdit.Problem) -> String? {
        guard let facts = try? FileManager.default.attributesOfItem(atPath: url.path) else { return nil }
        guard facts[.type] as? FileAttributeType == .typeRegular else {
            throw JSONEdit.Problem(description: "it is not a file")
        }
        guard let bytes = FileManager.default.contents(atPath: url.path), bytes.count <= most else {
            throw JSONEdit.Problem(description: "it can't be read, or has more than \(most) bytes")
        }
        guard let text = String(data: bytes, encoding: .utf8) else {
            throw JSONEdit.Problem(description: "it is not UTF-8")
        }
        return text
    }
}

/// A file changed between reading and writing; it was not overwritten.
package struct FileChanged: Error, Sendable, CustomStringConvertible {
    /// Relative to the top of the repository.
    package let path: String

    package var description: String { "\(path) was changed in the meantime; run the command again" }
}
