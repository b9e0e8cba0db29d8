import Foundation
import Sandbox

/// The libraries that a program of this machine needs and that another machine may lack: libgit2 and what it needs, in a
/// debug build also those of Swift.
enum AgentLibraries {
    /// - Returns: Their paths; none on macOS, where the agent is installed with its libraries.
    /// - Throws: ``ReachProblem`` if one of them is missing here.
    static func of(_ program: String) async throws -> [String] {
        #if os(Linux)
            var environment = ["PATH": "/usr/bin:/bin", "LC_ALL": "C"]
            environment["LD_LIBRARY_PATH"] = ProcessInfo.processInfo.environment["LD_LIBRARY_PATH"]
            let command = ExternalCommand("ldd", [program], environment: environment, deadline: .seconds(30))
            let ended: ExternalCommandResult
            do { ended = try await command.run() } catch let error as ExternalCommandError {
                throw ReachProblem(.missingProgram, "\(error). ldd tells which libraries pipectl-agent needs.")
            }
            // It is no dynamic program.
            guard ended.succeeded else { return [] }
            return try paths(in: ended.text, of: program)
        #else
            return []
        #endif
    }

    /// Reads what ldd prints.
    static func paths(in text: String, of program: String) throws(ReachProblem) -> [String] {
        var paths: [String] = []
        for line in text.split(separator: "\n") {
            let words = line.split { $0 == " " || $0 == "\t" }
            guard words.count >= 3, words[1] == "=>", !isOfSystem(words[0]) else { continue }
            guard words[2].hasPrefix("/") else {
                throw ReachProblem(
                    .agentMissing, "\(program) needs the library \(words[0]), which is not installed here.")
            }
            paths.append(String(words[2]))
        }
        return paths
    }

    /// Whether a library is part of the C library, which belongs to its machine's kernel and loader.
    private static func isOfSystem(_ name: some StringProtocol) -> Bool {
        [
            "libBrokenLocale", "libanl", "libc", "libdl", "libm", "libnsl", "libpthread", "libresolv", "librt",
            "libthread_db", "libutil",
        ]
        .contains { name.hasPrefix($0 + ".so") }
            || ["ld-linux", "libnss_", "linux-vdso"].contains { name.hasPrefix($0) }
    }
}
