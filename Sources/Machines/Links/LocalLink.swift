import Concurrency
import Foundation
package import Sandbox
import SystemCalls
import SystemPackage

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// Starts an agent as a child of this process: a machine that is this one, with files of its own.
package struct LocalLink: AgentLink {
    /// The program and its arguments.
    package var words: [String]
    package var environment: [String: String]
    /// Called with the process that was started.
    package var started: @Sendable (PipedProcess) -> Void = { _ in }

    package init(_ words: [String], environment: [String: String] = ProcessInfo.processInfo.environment) {
        self.words = words
        self.environment = environment
    }

    package func start() async throws -> AgentStream {
        let (process, socket): (PipedProcess, Int32)
        do { (process, socket) = try PipedProcess.start(words, environment: environment) } catch {
            throw LinkProblem(reason: "the agent \(words.first ?? "") can't be started: \(error)")
        }
        started(process)
        return AgentStream(process, socket: socket) { ending, _ in ending.isOwn ? ending.sentence : nil }
    }
}

/// Why an agent can't be started, as a sentence.
package struct LinkProblem: Error, Sendable, Equatable, CustomStringConvertible {
    package var reason: String
    package var description: String { reason }

    package init(reason: String) { self.reason = reason }
}

extension AgentStream {
    /// The stream of a program that serves over its standard input and output.
    ///
    /// - Parameter reason: What its end means, and whether a lasting agent goes on, see ``end(keepsAgent:)``.
    package init(
        _ process: PipedProcess, socket: Int32,
        reason: @escaping @Sendable (PipedProcess.Ending, _ keepsAgent: Bool) async -> String?
    ) {
        let both = Descriptor(socket)
        self.init(output: both, input: both) { keepsAgent in
            // A process closes its end before it can be waited for, and it may end because of the next line.
            let isOver = both.use { AgentStream.isClosed($0) }
            // Its input ends with this, even if another process holds a copy of the descriptor.
            both.use { _ = shutdown($0, Int32(SHUT_RDWR)) }
            var ending = try? await onOwnThread { process.end(grace: .seconds(20)) }
            ending?.isOwn = isOver
            guard let ending else { return nil }
            return await reason(ending, keepsAgent)
        }
    }

    /// Whether the other end of a socket is gone.
    private static func isClosed(_ socket: Int32) -> Bool {
        var request = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
        return poll(&request, 1, 0) > 0 && request.revents & Int16(POLLHUP) != 0
    }
}

extension PipedProcess.Ending {
    /// How it ended, as the predicate of a sentence, with the last line that it printed.
    package var sentence: String {
        let how = signal.map { "was ended by signal \($0)" } ?? "ended with exit code \(exitCode ?? 0)"
        let last = complaint.split(whereSeparator: \.isNewline).last.map { String($0.prefix(300)) }
        let clean = last.map { line in String(line.unicodeScalars.filter { $0.value >= 0x20 && $0.value != 0x7F }) }
        return how + (clean.map { ": “\($0)”" } ?? "")
    }
}
