import Foundation

/// What is to be written for the agents of a repository, found out without writing anything.
package struct AgentInstallation {
    /// A file larger than this is nobody's configuration.
    private static let most = 1 << 20

    package struct Change {
        package var path: String
        package var old: String?
        package var new: String
        /// Where it is written: the file itself, or what a link in the repository leads to.
        fileprivate var target: URL
    }

    /// Files that gain something.
    package private(set) var changes: [Change] = []
    /// Files that have it already.
    package private(set) var upToDate: [String] = []
    /// Files that are left alone, and why.
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

    /// Writes what is to change, each file as a whole or not at all.
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

    /// With the links of all folders on the way resolved, also where the last ones are not there yet.
    private static func resolved(_ url: URL) -> URL {
        if FileManager.default.fileExists(atPath: url.path) { return url.resolvingSymlinksInPath().standardizedFileURL }
        if (try? FileManager.default.destinationOfSymbolicLink(atPath: url.path)) != nil {
            // A link that leads nowhere: what it would make is not for us to say.
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

/// A file of the repository was changed between the reading and the writing; nothing of it was overwritten.
package struct FileChanged: Error, Sendable, CustomStringConvertible {
    /// From the top of the repository.
    package let path: String

    package var description: String { "\(path) was changed in the meantime; run the command again" }
}
