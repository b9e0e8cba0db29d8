package import DaemonLog
import Foundation
package import Results
package import TestBasics

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

extension Bench {
    /// A daemon of the built binary, which a test has started.
    package struct Daemon: Sendable {
        package let child: Child
        /// The path of its log.
        package let log: String

        package init(child: Child, log: String) { (self.child, self.log) = (child, log) }

        /// A line of its log.
        package struct Event: Decodable, Sendable {
            package var event: String
            package var level: String
            package var message: String
            package var run: RunID?
            package var repository: String?
            package var verdict: Verdict?
            package var step: String?
            package var state: String?

            package var code: LogCode? { LogCode(rawValue: event) }
        }

        /// Its whole log, as it is.
        package var text: String {
            String(decoding: FileManager.default.contents(atPath: log) ?? Data(), as: UTF8.self)
        }

        /// The lines of its log so far. What is no JSON is no line of the log: the last words of a process that ends.
        package var events: [Event] { Self.events(in: text) }

        /// The lines of a log. The last one may be cut off.
        package static func events(in log: String) -> [Event] {
            let end = log.lastIndex(of: "\n") ?? log.startIndex
            return log[..<end].split(separator: "\n").compactMap {
                try? JSONDecoder().decode(Event.self, from: Data($0.utf8))
            }
        }

        /// The lines so far with this code, and about this run if one is given.
        package func events(_ code: LogCode, run: RunID? = nil) -> [Event] {
            events.filter { $0.code == code && (run == nil || $0.run == run) }
        }

        /// Waits until its log has a line with this code, and returns the first one.
        ///
        /// - Parameters:
        ///   - run: The run that the line is about.
        ///   - matches: What else holds of the line.
        /// - Throws: If the daemon ends without it, or five minutes are over.
        @discardableResult
        package func event(
            _ code: LogCode, run: RunID? = nil, where matches: (Event) -> Bool = { _ in true }
        ) async throws -> Event {
            var found: Event?
            let isSaid = try await becomesTrue(within: .seconds(300)) {
                let isRunning = child.isRunning
                found = events(code, run: run).first(where: matches)
                return found != nil || !isRunning
            }
            if let found { return found }
            let what = "\(code.rawValue)\(run.map { " of run \($0)" } ?? "")"
            throw Bench.Failure(description: "\(isSaid ? "it ended" : "the time is over") without \(what):\n\(text)")
        }

        /// Waits until its log says that a run has its verdict.
        @discardableResult
        package func ended(_ run: RunID) async throws -> Event { try await event(.runEnded, run: run) }

        /// Asks the daemon to end, waits for that, and returns its exit code.
        package func stop() async -> Int32 {
            child.signal(SIGTERM)
            return await end()
        }

        /// Waits until the daemon ends for another reason, and returns its exit code.
        package func end() async -> Int32 {
            async let _: Void = child.kill(after: .seconds(300))
            return await child.end
        }
    }
}
