import Concurrency
import Sandbox

/// The agent and the programs that must lie beside it, for one platform.
package struct AgentPrograms: Sendable {
    package struct File: Sendable, Equatable {
        /// Its name on the other machine: letters, digits, dots, dashes, underscores and plus signs.
        package let name: String
        /// Its path on this machine.
        package let path: String
        let digest: String
    }

    package let platform: MachinePlatform
    package let files: [File]
    /// The name of the file that is started.
    let program: String
    /// What the agent is started with.
    let arguments: [String]
    /// Whether libraries lie beside the agent.
    let hasLibraries: Bool
    /// Of the names and contents of all files. A machine keeps one folder for each digest.
    let digest: String

    /// Reads the files for their digests; it blocks.
    ///
    /// - Parameters:
    ///   - others: Programs that the agent needs beside it: `stepinit`.
    ///   - libraries: Libraries that it needs and that the other machine may lack.
    /// - Throws: The error of a file that can't be read.
    package init(
        _ platform: MachinePlatform, agent: String, others: [String] = [], libraries: [String] = [],
        arguments: [String] = []
    ) throws {
        self.platform = platform
        self.arguments = arguments
        hasLibraries = !libraries.isEmpty
        files = try ([agent] + others + libraries).map { path in
            let name = path.split(separator: "/").last.map(String.init) ?? path
            // The loader looks for `libstdc++.so.6` by this name.
            let plain = name.split(separator: "+", omittingEmptySubsequences: false).map {
                ShellText.plainName(String($0))
            }
            return File(name: plain.joined(separator: "+"), path: path, digest: try FileDigest.of(file: path))
        }
        program = files.first?.name ?? ""
        digest = FileDigest.of(parts: files.flatMap { [$0.name, $0.digest] })
    }

    /// The agent of this machine for others like it; none if the system does not tell what it is.
    ///
    /// - Parameter shared: See ``Machine/shared``.
    /// - Throws: The error of a file that can't be read; ``ReachProblem`` if a library of the agent is missing.
    package static func own(agent: String, stepInit: String, shared: String? = nil) async throws -> [AgentPrograms] {
        guard let platform = MachinePlatform.own else { return [] }
        let libraries = try await AgentLibraries.of(agent)
        return try await onOwnThread {
            [
                try AgentPrograms(
                    platform, agent: agent, others: [stepInit], libraries: libraries,
                    arguments: shared.map { ["--shared", $0] } ?? [])
            ]
        }
    }

    /// The folder below the cache of the other machine's user.
    var folder: String { "agent-\(digest)" }
}
