import Archive
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
        let (news, handler) = (board.news, requests)
        let host = PagesHost(
            answer: { request in
                let reply = Mutex<DaemonReply?>(nil)
                try await handler.answer(request, by: getuid()) { answer in reply.withLock { $0 = $0 ?? answer } }
                return reply.withLock { $0 } ?? .refused(RequestError(.usage, "the daemon gave no answer"))
            },
            document: { try await bundles.archivedDocument($0) },
            log: { run, file in
                let times = LogTimes((try? await bundles.store.log(run, file + ".times")) ?? [])
                return ReportLog(bytes: try await bundles.store.log(run, file)) { times.milliseconds(at: $0) }
            },
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
