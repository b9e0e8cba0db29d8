package import Control
import Foundation
import Git

/// What a person or an agent waits for, and the folder in which they named it.
package struct WaitSubject {
    /// `12`, `#7`, a branch, a tag, a commit, or nothing for HEAD.
    package var text: String?
    /// A change's name; nil for none.
    package var change: String?
    /// The folder whose repository is meant.
    package var folder: String

    /// - Parameters:
    ///   - text: A run, `#7`, a branch, a tag or a commit; nil for HEAD.
    ///   - change: The change, if it was named by its own option.
    ///   - folder: The caller's working directory.
    package init(text: String?, change: String?, folder: String) {
        (self.text, self.change, self.folder) = (text, change, folder)
    }

    /// The question for the daemon.
    ///
    /// - Throws: ``RequestError`` if nothing is named and the folder is in no repository.
    package func request(repository: String?, end: WaitRequest.End) async throws -> WaitRequest {
        let here = try await place()
        return WaitRequest(
            subject: try await subject(top: here?.top), repository: repository, locations: here?.locations ?? [],
            end: end)
    }

    private func subject(top: String?) async throws -> WaitRequest.Subject {
        if let change { return .change(change) }
        guard let text else {
            guard let top else {
                throw RequestError(
                    .usage,
                    "\(folder) is not in a Git repository: name a run, a change, a branch or a commit to wait for"
                )
            }
            return .commit(try await Self.commit("HEAD", at: top).hex)
        }
        if text.first == "#" || text.first == "!", text.count > 1 { return .change(String(text.dropFirst())) }
        if text.allSatisfy(\.isASCII), text.allSatisfy(\.isNumber), text.count < 19, let run = Int64(text) {
            return .run(run)
        }
        let isFullID = [40, 64].contains(text.utf8.count) && text.allSatisfy(\.isHexDigit)
        if isFullID { return .commit(text.lowercased()) }
        guard let top else { return .ref(text, commit: nil) }
        // A branch or tag is passed on by name; anything else that Git can resolve is one commit.
        for ref in ["refs/heads/\(text)", "refs/tags/\(text)", text.hasPrefix("refs/") ? text : nil].compactMap(\.self)
        {
            if let commit = try? await Self.commit(ref, at: top) { return .ref(text, commit: commit.hex) }
        }
        if let commit = try? await Self.commit(text, at: top) { return .commit(commit.hex) }
        return .ref(text, commit: nil)
    }

    private static func commit(_ revision: String, at top: String) async throws -> OID {
        try await withRepository(at: top) { try $0.resolve("\(revision)^{commit}") }
    }

    /// The repository of the folder, and all locations by which the daemon may know it.
    private func place() async throws -> (top: String, locations: [String])? {
        let top = try RunSubject.top(of: folder)
        let places = await RunSubject.places(of: top)
        return places.isEmpty ? nil : (top, places)
    }
}
