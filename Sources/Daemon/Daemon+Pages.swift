import Archive
import Concurrency
import Control
import Engine
import Foundation
import Pages
import Reports
import Running
import Synchronization

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

extension Daemon {
    /// The pages of this build box.
    func pages() -> Pages {
        let bundles = requests.queries.bundles
        let (news, handler, outputs) = (board.news, requests, board.outputs)
        let host = PagesHost(
            answer: { request in
                let reply = Mutex<DaemonReply?>(nil)
                try await handler.answer(request, by: getuid()) { answer in reply.withLock { $0 = $0 ?? answer } }
                return reply.withLock { $0 } ?? .refused(RequestError(.usage, "the daemon gave no answer"))
            },
            document: { try await bundles.archivedDocument($0) },
            report: { try await bundles.store.report($0) },
            log: { run, file in
                let times = LogTimes((try? await bundles.store.log(run, file + ".times")) ?? [])
                return ReportLog(bytes: try await bundles.store.log(run, file)) { times.milliseconds(at: $0) }
            },
            output: { outputs.output(at: $0).map(StepOutput.init) },
            news: {
                let seen = Mutex(news.mark(of: []))
                return {
                    await news.wait(since: seen.withLock { $0 })
                    seen.withLock { $0 = news.mark(of: []) }
                }
            }, index: state.index)
        return Pages(host, machine: ProcessInfo.processInfo.hostName, log: log)
    }
}

/// A step's output as the pages read it.
private struct StepOutput: LogOutput {
    let output: LiveOutput

    var extent: (bytes: Int, isOver: Bool) { output.extent }

    func wait(beyond bytes: Int) async { await output.wait(beyond: bytes) }

    func read(from offset: Int, atMost count: Int) async throws -> (start: Int, bytes: [UInt8]) {
        try await offThread { try output.read(from: offset, atMost: count) }
    }
}
