package import Control
import Foundation
import Git
import Watching

/// What a person asks to run: a ref, a change, or the working tree if nothing is named.
package struct RunSubject {
    /// A branch, tag or commit; nil for none.
    package var ref: String?
    /// A change's name; nil for none.
    package var change: String?

    /// - Parameters:
    ///   - ref: A branch, tag or commit; nil for none.
    ///   - change: The name of a change; nil for none.
    package init(ref: String? = nil, change: String? = nil) { (self.ref, self.change) = (ref, change) }

    /// The top of the working tree that a folder is in.
    package static func top(of folder: String) throws -> String {
        var candidate = URL(fileURLWithPath: folder).standardizedFileURL
        while candidate.path != "/" {
            if FileManager.default.fileExists(atPath: candidate.appendingPathComponent(".git").path) {
                return candidate.path
            }
            candidate.deleteLastPathComponent()
        }
        return URL(fileURLWithPath: folder).standardizedFileURL.path
    }

    /// A repository as a person typed it, for the daemon: a path is relative to the caller's folder, not the daemon's.
    package static func repository(_ text: String) -> String {
        let isPath = text.hasPrefix(".") || text.hasPrefix("/") || text.hasPrefix("~")
        guard isPath, !WatchedRepository.isRemote(text) else { return text }
        return (try? top(of: (text as NSString).expandingTildeInPath)) ?? text
    }

    /// All locations by which the daemon may know the repository of a folder: its own, and those of its remotes.
    package static func places(of folder: String) async -> [String] {
        guard let top = try? top(of: folder),
            let found = try? await withRepository(at: top, { ([$0.gitDirectory], try $0.remoteURLs()) })
        else { return [] }
        let remotes = found.1.map { url in
            WatchedRepository.isRemote(url)
                ? url : URL(fileURLWithPath: url, relativeTo: URL(fileURLWithPath: top)).standardizedFileURL.path
        }
        return [top] + found.0 + remotes
    }

    /// Where a repository was cloned from, in the daemon's form: an absolute path or a URL; nil if it has no remote.
    package static func origin(of location: String) async throws -> String? {
        guard !WatchedRepository.isRemote(location),
            let origin = try await withRepository(at: location, { $0.remoteURL("origin") })
        else { return nil }
        guard !WatchedRepository.isRemote(origin) else { return origin }
        return URL(fileURLWithPath: origin, relativeTo: URL(fileURLWithPath: location)).standardizedFileURL.path
    }

    /// The subject of a manual run. If nothing is named, this creates a snapshot commit of the working tree.
    package func resolved(in location: String) async throws -> StartRequest.Subject {
        if let ref { return .revision(ref) }
        if let change { return .change(change) }
        let commit = try await withRepository(at: location) { repository in
            guard repository.workDirectory != nil else {
                throw RequestError(
                    .usage,
                    "\(location) is bare and has no working tree: name what to run with --ref or --change")
            }
            let author = Signature(name: "pipectl", email: "pipectl@localhost", time: Date())
            return try repository.snapshotWorkingTree(author: author)
        }
        return .workingTree(commit: commit.hex)
    }
}
