import Control
import Engine
public import Foundation
import Sandbox

/// An installed Git that can merge commits without a work tree (`git merge-tree --write-tree`, Git 2.38).
public struct MergingGit: Sendable, Equatable {
    /// The program's absolute path.
    public let path: String
    /// For example "2.39.5".
    public let version: String
    /// Whether one process takes many merges from its standard input (`--stdin`, Git 2.39).
    let takesMany: Bool

    package init?(path: String, versionText: String) {
        guard
            let number = versionText.split(whereSeparator: { $0 == " " || $0 == "\n" }).first(where: {
                $0.first?.isNumber == true
            })
        else { return nil }
        let parts = number.split(separator: ".").map { Int($0.prefix { $0.isNumber }) ?? 0 } + [0, 0]
        guard (parts[0], parts[1]) >= (2, 38) else { return nil }
        self.path = path
        version = String(number)
        takesMany = (parts[0], parts[1]) >= (2, 39)
    }

    /// Searches `PATH` for `git`, or uses the one that `PIPECTL_GIT` names.
    ///
    /// - Throws: ``RequestError`` with the code `missing-tool`, which says why libgit2 merges instead.
    public static func find(
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) async throws -> MergingGit {
        let instead =
            "Install Git 2.38 or newer. Until then libgit2 merges changes, and in rare cases its result differs from Git's."
        guard let path = path(environment) else {
            throw RequestError(.missingTool, "there is no git in PATH (\(environment["PATH"] ?? "")). \(instead)")
        }
        let result: ExternalCommandResult
        do {
            result = try await ExternalCommand(path, ["--version"], environment: environment, deadline: .seconds(10))
                .run()
        } catch let error as ExternalCommandError {
            throw RequestError(.missingTool, "\(path) can't be started: \(error.cause). \(instead)")
        }
        guard result.succeeded else { throw RequestError(.missingTool, "\(path) --version failed. \(instead)") }
        guard let found = MergingGit(path: path, versionText: result.text) else {
            let text = result.text.trimmingCharacters(in: .whitespacesAndNewlines).prefix(100)
            throw RequestError(.missingTool, "\(path) is \"\(text)\", which is too old to merge changes. \(instead)")
        }
        return found
    }

    private static func path(_ environment: [String: String]) -> String? {
        if let chosen = environment["PIPECTL_GIT"] {
            return chosen.hasPrefix("/") && access(chosen, X_OK) == 0 ? chosen : nil
        }
        let folders = (environment["PATH"] ?? "").split(separator: ":").filter { $0.hasPrefix("/") }
        return folders.map { "\($0)/git" }.first { FileManager.default.isExecutableFile(atPath: $0) }
    }
}
