import ForgeConnection
import Landing
import Listening
import Pages
import DaemonLog
import Archive
import Control
import Forges
import Logging
import Preparing
import Running
import Sandbox
import Watching
import Results
import Store
import ServiceLifecycle
import StateFiles
import Synchronization
import SystemPackage
import TaskService

/// What a daemon does at forges.
extension Daemon {
    /// The services that speak with forges, and the one that hears them where the settings say so.
    ///
    /// - Throws: `ListenError` where the settings of the listener are wrong.
    func forgeServices() throws -> [any Service] {
        guard !watchers.isEmpty else { return [] }
        let credentials = ForgeCredentialStore(folder: FilePath(state.folder.forges))
        let endpoint = WebhookEndpoint(secrets: credentials)
        let listen = try options.listen.options()
        let facts = ForgeFacts(
            board: board, bundles: requests.queries.bundles, hasButtons: listen != nil,
            links: PageLinks(options.listen))
        let links = ForgeLinks(
            index: state.index, credentials: credentials, endpoint: endpoint,
            receivers: requests.commands.forges.receivers, host: forgeHost(), log: log,
            news: { [news = board.news] in
                let seen = Mutex(news.mark(of: []))
                return ForgeNews {
                    await news.wait(since: seen.withLock { $0 })
                    seen.withLock { $0 = news.mark(of: []) }
                }
            },
            facts: { try await facts.facts($0) },
            places: { [queues = requests.landings.queues] repository in
                try await queues.places(of: repository).mapValues {
                    QueuePlace(branch: $0.branch, position: $0.position, count: $0.count)
                }
            },
            resultFile: { [store = requests.queries.bundles.store] in try await store.resultFile($0, $1) })
        var services: [any Service] = [UntilShutdown { await links.run() }]
        if var listen {
            listen.mostConnections = OpenFiles.connectionsThatFit
            let pages = options.listen.showsPages ? pages(at: listen) : nil
            if pages != nil { log.notice("pages are shown at \(listen.root)/", metadata: .code(.pagesShown)) }
            let answer = outside.responder(others: endpoint.responder(others: pages?.responder))
            let heard = "webhooks are heard at \(listen.root)/hooks/REPOSITORY"
            services.append(
                WebServer(
                    listen, log: log,
                    whenListening: { [log] _ in log.notice("\(heard)", metadata: .code(.webhooksHeard)) },
                    answer: answer))
            if let pages { services.append(pages) }
        }
        return services
    }

    /// What people who may write can ask for at a forge.
    func changeCommands() -> ChangeCommands {
        let commands = requests.commands
        return ChangeCommands(
            index: state.index, runs: commands.runs, approvals: commands.approvals, fixes: commands.fixes,
            land: { [landings = requests.landings] change, head, repository, person in
                try await landings.land(
                    LandRequest(repository: repository, change: change, head: head), by: person
                ).inWords
            }, task: { [forge = outside.forge] in try await forge.obey($0) })
    }

    /// What this daemon does for what its forges tell.
    private func forgeHost() -> ForgeHost {
        let orders = changeCommands()
        var host = ForgeHost(
            policy: options.commands,
            look: { [watchers] in watchers[$0]?.wakeUp() },
            lookAnew: { [watchers] in await watchers[$0]?.lookAnew() },
            obey: { try await orders.obey($0) },
            reconsider: { [index = state.index, queue, log] change, repository in
                do {
                    if try await index.reconsider(change, of: repository) { queue.wakeUp() }
                } catch {
                    log.warning(
                        "runs of change \(change) of \(repository) wait for approval still: \(error)",
                        metadata: .code(.approvalFailed, repository: repository))
                }
            },
            noteWanted: { [news = board.news] in news.tellAll() })
        host.tasks = outside.forge.hearing()
        return host
    }
}
