import ForgeConnection
import Listening
import Archive
import Concurrency
import Control
import Delivery
import Engine
import Forges
import Foundation
import Git
import Preparing
import Pages
import Reports
import Results
import Running
import StateFiles
import StepLogs
import Store
import Synchronization
import SystemPackage
import Watching

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

extension Daemon {
    /// The pages of this build box.
    func pages(at listen: ListenOptions) -> Pages {
        let bundles = requests.queries.bundles
        let (news, handler, outputs) = (board.news, requests, board.outputs)
        var host = PagesHost(
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
        host.releases = { [containing = ContainingReleases(repositories)] in
            try await containing.releases(with: $0, of: $1)
        }
        host.detail = { [releases = requests.releases] in try await releases.detail(of: $0) }
        host.latest = { [index = state.index] in try await index.versions(of: $0, limit: 1_000).latestPublished }
        host.artifact = { [store = state.archive] in store.artifact($0) }
        return Pages(host, pagesControls(listen), machine: ProcessInfo.processInfo.hostName, log: log)
    }

    /// Who may see the pages and act there.
    private func pagesControls(_ listen: ListenOptions) -> PagesControls {
        // Whoever a proxy lets in would be somebody of this machine.
        var pages = PagesOptions(root: listen.root, isOpen: listen.address.isLoopback && listen.url == nil)
        if let header = options.listen.userHeader { pages.userHeader = header }
        pages.operators = options.listen.operators
        // One of five connections is left for requests, however many browsers follow pages.
        pages.mostFollowers = max(listen.mostConnections / 5 * 4, 1)
        let (handler, known, index) = (requests, repositories, state.index)
        let credentials = ForgeCredentialStore(folder: FilePath(state.folder.forges))
        let clientID = options.listen.signIn
        return PagesControls(
            options: pages, links: requests.access.links,
            act: { request, person in
                let reply = Mutex<DaemonReply?>(nil)
                // The command waits for the result of a fix; a page shows it.
                if case .fix(let run) = request { return await handler.beginFix(of: run, by: person) }
                try await handler.answer(request, for: Caller(person: person)) { answer in
                    reply.withLock { $0 = $0 ?? answer }
                }
                return reply.withLock { $0 } ?? .refused(RequestError(.usage, "the daemon gave no answer"))
            },
            signIn: {
                guard let clientID else { return nil }
                return try? await GitHubSignIn.make(clientID: clientID, index: index, credentials: credentials)
                    .map(PagesGitHub.init)
            },
            definition: { try await known.definition(of: $0) })
    }
}

extension RequestHandler {
    fileprivate func beginFix(of run: RunID, by person: String) async -> DaemonReply {
        do {
            let (attempt, running) = try await commands.fixes.begin(run, by: person)
            let words = "attempt \(attempt) at fixing run \(run)"
            return .fix(.note(running == nil ? "\(words) begins" : "\(words) goes on already"))
        } catch {
            return .refused(
                RequestError(refusing: error) ?? RequestError(.usage, "\(error)", origin: .daemon))
        }
    }
}

extension KnownRepositories {
    /// The largest file of a definition that is shown, in bytes, and the most files.
    private static let (mostBytes, mostFiles) = (1 << 20, 200)

    /// The Swift files below `workflows/` of the target of a repository, by their paths.
    fileprivate func definition(of name: String) async throws -> [String: String] {
        let repository = try await repository(named: name)
        let rules = try await rules(for: repository)
        return try await withRepository(at: repository.gitDirectory) { git in
            let refs = try git.snapshot(under: "refs/heads/").refs
            guard let branch = rules.target.branch(in: refs), let tip = refs["refs/heads/\(branch.name)"],
                let folder = try git.treeID(of: tip, path: "workflows")
            else { return [:] }
            var files: [String: String] = [:]
            for entry in try git.entries(ofTree: folder, recursive: true)
            where entry.path.hasSuffix(".swift") && [.blob, .executable].contains(entry.kind) {
                guard files.count < Self.mostFiles, try git.size(of: entry.id) <= Self.mostBytes else { continue }
                files["workflows/" + entry.path] = String(
                    validating: try git.blob(entry.id, atMost: Self.mostBytes), as: UTF8.self)
            }
            return files
        }
    }
}

/// GitHub's sign-in, as the pages see it.
private struct PagesGitHub: PagesSignIn {
    let github: GitHubSignIn
    let title = ForgeKind.github.title

    init(_ github: GitHubSignIn) { self.github = github }

    func address(state: String, challenge: String, redirect: String) -> String {
        github.address(state: state, challenge: challenge, redirect: redirect)
    }

    func person(code: String, verifier: String, redirect: String) async throws -> SignedIn? {
        let (login, right) = try await github.person(code: code, verifier: verifier, redirect: redirect)
        return right.map { SignedIn(name: "@\(login) at \(title)", mayOperate: $0 == .write) }
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
