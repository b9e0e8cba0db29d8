import SystemCalls
import StateFiles
import Results
import Engine
import Foundation
import Git
import Sandbox

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// A checkout in a child process, for commits with many or large files: libgit2 holds a file whole in
/// memory while it writes it, and nothing ends a checkout that takes too long.
public struct CheckoutProcess: Sendable, Codable {
    /// The hidden command of pipectl and its agent that checks out. Its argument is a value of this type as JSON.
    public static let command = "check-out"

    /// Where the files go.
    enum Place: Sendable, Codable {
        /// See ``Repository/checkout(_:into:)``.
        case folder(String)
        /// See ``Repository/checkoutLayer(_:files:gitDirectory:over:)``.
        case layer(files: String, gitDirectory: String, baseTree: String?, baseIndex: String?)
    }

    var store: String
    package var commit: String
    var place: Place
    /// The most bytes of memory that the child may use.
    var memory: Int

    /// - Parameter cost: The size of what is written, which decides about the memory.
    init(_ commit: OID, of store: String, to place: Place, cost: TreeSize) {
        (self.store, self.commit, self.place) = (store, commit.hex, place)
        // libgit2's own cache, something for each file, and the largest file with what it is unpacked from.
        memory = 768 << 20 + cost.entries * 1_024 + cost.largestFile * 4
    }

    /// How long a checkout may take.
    static let deadline = Duration.seconds(900)

    /// Checks out in a child process, and waits for it.
    ///
    /// - Throws: ``CheckoutProblem``; `CancellationError` when the task is cancelled.
    package func run() async throws {
        let words = [CheckoutProcess.command, String(decoding: try JSONEncoder().encode(self), as: UTF8.self)]
        let program = Installation.executable
        var environment = ProcessInfo.processInfo.environment
        // Libraries that were brought to a machine lie beside the program.
        let own = (program as NSString).deletingLastPathComponent
        environment["LD_LIBRARY_PATH"] = [environment["LD_LIBRARY_PATH"] ?? "", own].filter { !$0.isEmpty }.joined(
            separator: ":")
        let result = try await ExternalCommand(
            program, words, environment: environment, deadline: CheckoutProcess.deadline, outputLimit: 16_384
        ).run()
        switch result.ending {
        case .exited(0): return
        case .deadline:
            throw CheckoutProblem(
                "it took longer than \(CheckoutProcess.deadline.inWords) and was ended", wasEnded: true)
        case .signal(let signal): throw CheckoutProblem("its process was ended by signal \(signal)", wasEnded: true)
        case .exited(let code):
            let said = result.text.trimmingCharacters(in: .whitespacesAndNewlines)
            throw CheckoutProblem(
                said.isEmpty ? "its process ended with exit code \(code)" : said,
                systemError: code == CheckoutProcess.diskFull ? ENOSPC : nil)
        }
    }

    /// The exit code of a child that found the disk full.
    private static let diskFull: Int32 = 28

    /// The exit code of a child that has failed with `error`.
    public static func exitCode(for error: any Error) -> Int32 { isDiskFull(error) ? diskFull : 1 }

    private static func isDiskFull(_ error: any Error) -> Bool {
        let code = (error as? GitError)?.systemError ?? (error as? any HasSystemError)?.systemError
        return code.map(DiskSpace.isExhausted) ?? DiskSpace.isExhausted(error)
    }

    /// Does in the child process what ``run()`` asked for. Blocks.
    public static func perform(_ request: String) throws {
        let request = try JSONDecoder().decode(CheckoutProcess.self, from: Data(request.utf8))
        request.boundMemory()
        let repository = try Repository(opening: request.store)
        guard let commit = OID(hex: request.commit) else { throw CheckoutProblem("no commit was named") }
        switch request.place {
        case .folder(let folder): try repository.checkout(commit, into: folder)
        case .layer(let files, let gitDirectory, let baseTree, let baseIndex):
            let tree = baseTree.flatMap { OID(hex: $0) }
            let base = tree.flatMap { tree in baseIndex.map { CheckedOut(tree: tree, index: $0) } }
            _ = try repository.checkoutLayer(commit, files: files, gitDirectory: gitDirectory, over: base)
        }
    }

    private func boundMemory() {
        #if os(Linux)
            var limit = rlimit()
            limit.rlim_cur = rlim_t(memory)
            limit.rlim_max = limit.rlim_cur
            setrlimit(__rlimit_resource_t(RLIMIT_DATA.rawValue), &limit)
            // If memory runs out, the kernel ends this process and not the daemon.
            try? Data("1000".utf8).write(to: URL(fileURLWithPath: "/proc/self/oom_score_adj"))
        #endif
    }
}

/// Why the files of a commit could not be written.
package struct CheckoutProblem: HasSystemError, CustomStringConvertible {
    package let description: String
    package let systemError: Int32?
    /// Whether the process was ended from outside, so that nothing is known of the repository.
    package let wasEnded: Bool

    init(_ reason: String, systemError: Int32? = nil, wasEnded: Bool = false) {
        self.wasEnded = wasEnded
        description = "the commit's files could not be checked out: \(reason)"
        self.systemError = systemError
    }
}
