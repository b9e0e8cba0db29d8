import Running
import Preparing
import Watching
import Evaluating
import Control
import Archive
import Results
import Store

/// Handles requests that change nothing.
struct QueryHandler: Sendable {
    let index: Store.Index
    let store: ArchiveStore
    let repositories: KnownRepositories
    let requests: RunRequestMaker
    let runs: RunQueries
    let tests: TestQueries
    let bundles: BundleQuery
    let proofs: ProofQueries
    let status: StatusQuery

    /// The reply to such a request; nil for other requests.
    func reply(to request: DaemonRequest) async throws -> DaemonReply? {
        switch request {
        case .status: .status(try await status.status())
        case .settings: .settings(status.options.settings)
        case .machines: .machines(await status.machines())
        case .runs(let query): .runs(try await index.runs(repositories.filter(query)).map(runs.board.withQuestion))
        case .run(let id): .run(try await runs.detail(id))
        case .find(let question): .found(try await run(question))
        case .bundle(let wanted): .bundle(try await bundles.bundle(wanted))
        case .compare(let run, let other): .comparison(try await tests.compare(run, with: other))
        case .verifyArchive: .problems(try await store.verify(index).map { "\($0)" })
        case .repository(let place): .repository(try await repositories.facts(of: place))
        case .integrityPolicy(let place): .integrityPolicy(try await requests.definitions.integrityPolicy(of: place))
        case .parameters(let start): .parameters(try await requests.parameters(of: start))
        case .why(let start): .reasons(try await proofs.why(start))
        case .proofs: .proofs(try await proofs.status())
        case .forges: .forges(try await ForgeRequests(index: index, news: runs.board.news).status())
        default: try await replyAboutTests(request)
        }
    }

    /// The run that a reference means.
    private func run(_ question: RunQuestion) async throws -> RunID {
        let known = try await repositories.directory()
        let here = known.find(at: question.locations, watchedOnly: true) ?? known.find(at: question.locations)
        return try await RunLookup(index: index, repository: here?.name).find(question.reference)
    }

    private func replyAboutTests(_ request: DaemonRequest) async throws -> DaemonReply? {
        switch request {
        case .testHistory(let text, let filter):
            .appearances(try await tests.history(of: text, repositories.named(filter)))
        case .flakyTests(let filter): .flaky(try await index.flakyTests(repositories.named(filter), plotted: 100))
        case .slowestTests(let filter, let count):
            .slowest(try await index.slowestTests(repositories.named(filter), count: min(count, 1_000)))
        case .trends(let tests, let filter):
            .trends(try await index.trends(tests.prefix(200).map { (suite: $0.suite, name: $0.name) }, filter))
        default: nil
        }
    }
}
