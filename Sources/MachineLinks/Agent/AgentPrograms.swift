import Sandbox

/// The agent and the programs that must lie beside it, for one platform.
package struct AgentPrograms: Sendable {
    package struct File: Sendable, Equatable {
        /// Its name on the other machine: letters, digits, dots, dashes and underscores.
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
    /// Of the names and contents of all files. A machine keeps one folder for each digest.
    let digest: String

    /// Reads the files for their digests; it blocks.
    ///
    /// - Parameter others: Programs and libraries that the agent needs beside it: `stepinit`.
    /// - Throws: The error of a file that can't be read.
    package init(
        _ platform: MachinePlatform, agent: String, others: [String] = [], arguments: [String] = []
    ) throws {
        self.platform = platform
        self.arguments = arguments
        files = try ([agent] + others).map { path in
            let name = path.split(separator: "/").last.map(String.init) ?? path
            return File(name: ShellText.plainName(name), path: path, digest: try FileDigest.of(file: path))
        }
        program = files.first?.name ?? ""
        digest = FileDigest.of(parts: files.flatMap { [$0.name, $0.digest] })
    }

    /// The folder below the cache of the other machine's user.
    var folder: String { "agent-\(digest)" }
}
