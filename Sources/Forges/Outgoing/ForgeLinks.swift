public import ForgeConnection
import DaemonLog
import Foundation
public import Logging
public import Results
public import Store
import AsyncHTTPClient
import NIOCore

import Synchronization

/// Wakes a listener when something happened in the daemon.
public struct ForgeNews: Sendable {
    /// Returns when something has happened since its last return, or when the task is cancelled.
    public var wait: @Sendable () async -> Void

    public init(wait: @escaping @Sendable () async -> Void) { self.wait = wait }
}

/// The daemon's connections to forges. It records the states of runs and delivers them, for each repository
/// independently.
///
/// A forge that is slow or down delays neither runs nor other forges.
public struct ForgeLinks: Sendable {
    /// The longest sleep without news, in seconds.
    static let longestSleep = 60.0
    /// The shortest time between two progress states of a live run, in seconds.
    static let progressPause = 5.0

    private let index: Store.Index
    private let credentials: ForgeCredentialStore
    private let endpoint: WebhookEndpoint
    private let log: Logger
    private let receivers: ForgeReceivers
    private let host: ForgeHost
    private let facts: @Sendable (RunSummary) async throws -> ForgeRunFacts
    private let places: @Sendable (_ repository: String) async throws -> [String: QueuePlace]
    private let resultFile: @Sendable (RunID, String) async throws -> [UInt8]?
    private let news: @Sendable () -> ForgeNews

    /// - Parameters:
    ///   - endpoint: Is told which repositories webhooks may be about.
    ///   - receivers: Is told whom to ask about changes.
    ///   - host: What the daemon does for what is heard.
    ///   - news: Makes a listener for changes of runs and connections. It misses nothing that happens after it was
    ///     made.
    ///   - facts: Facts about a run that are not in its row: progress, report, page.
    ///   - places: The places of changes in merge queues, by their names.
    public init(
        index: Store.Index, credentials: ForgeCredentialStore, endpoint: WebhookEndpoint, receivers: ForgeReceivers,
        host: ForgeHost, log: Logger, news: @escaping @Sendable () -> ForgeNews,
        facts: @escaping @Sendable (RunSummary) async throws -> ForgeRunFacts,
        places: @escaping @Sendable (_ repository: String) async throws -> [String: QueuePlace],
        resultFile: @escaping @Sendable (RunID, String) async throws -> [UInt8]?
    ) {
        self.index = index
        self.credentials = credentials
        self.endpoint = endpoint
        self.log = log
        self.receivers = receivers
        self.host = host
        self.news = news
        self.facts = facts
        self.places = places
        self.resultFile = resultFile
    }

    /// Runs until the task is cancelled. It takes up connections that are added or removed meanwhile.
    public func run() async {
        var inboxes: [String: (address: String, inbox: ForgeInbox)] = [:]
        while !Task.isCancelled {
            let listener = news()
            let records = (try? await index.forges()) ?? []
            let known = inboxes
            inboxes = [:]
            for record in records {
                // What has arrived for a connection outlives the one that another repository gets.
                let kept = known[record.repository].flatMap { $0.address == record.address ? $0 : nil }
                inboxes[record.repository] = if let kept { kept } else { (record.address, await inbox(of: record)) }
            }
            listen(records, inboxes.mapValues(\.inbox))
            guard !records.isEmpty else {
                // Without a connection, there are no HTTP client and no threads of one.
                await waitForConnections(otherThan: [], listener)
                continue
            }
            let http = HTTPClient(eventLoopGroupProvider: .singleton, configuration: ForgeClient.configuration)
            await withTaskGroup(of: Void.self) { group in
                var asked: [String: ForgeReceiver] = [:]
                for record in records {
                    let links = ForgeSessions { try session(record, http) }
                    group.addTask { await serve(record, links) }
                    guard let inbox = inboxes[record.repository]?.inbox else { continue }
                    let receiver = ForgeReceiver(record, index: index, sessions: links, host: host, log: log)
                    asked[record.repository] = receiver
                    group.addTask { await receive(record, inbox, receiver) }
                }
                receivers.serve(asked)
                group.addTask { await waitForConnections(otherThan: records, listener) }
                await group.next()
                group.cancelAll()
            }
            try? await http.shutdown()
        }
    }

    private func waitForConnections(otherThan records: [ForgeRecord], _ listener: ForgeNews) async {
        while !Task.isCancelled {
            await listener.wait()
            if let now = try? await index.forges(), now != records { return }
        }
    }

    /// An inbox that knows what was delivered before.
    private func inbox(of record: ForgeRecord) async -> ForgeInbox {
        let inbox = ForgeInbox()
        do {
            inbox.remember(try await index.forgeDeliveries(of: record.repository))
        } catch {
            log.warning(
                "deliveries for \(record.repository) that came before can't be told from new ones: \(error)",
                metadata: .code(.forgeUnusable, repository: record.repository))
        }
        return inbox
    }

    /// Has webhooks of the connected repositories heard.
    private func listen(_ records: [ForgeRecord], _ inboxes: [String: ForgeInbox]) {
        var targets: [String: WebhookEndpoint.Target] = [:]
        for record in records {
            guard let address = try? ForgeAddress(json: record.address), let inbox = inboxes[record.repository] else {
                continue
            }
            targets[record.repository] = WebhookEndpoint.Target(
                kind: address.kind, project: address.project, inbox: inbox,
                look: { [host] in host.look(record.repository) })
        }
        endpoint.serve(targets)
    }

    /// Looks at what webhooks told about one connection, and polls, until the task is cancelled.
    private func receive(_ record: ForgeRecord, _ inbox: ForgeInbox, _ receiver: ForgeReceiver) async {
        await keepReceiving(record, inbox, receiver)
        // Another receiver takes over when the connection of some repository is made or removed.
        inbox.giveBack(await receiver.leave())
    }

    private func keepReceiving(_ record: ForgeRecord, _ inbox: ForgeInbox, _ receiver: ForgeReceiver) async {
        while !Task.isCancelled {
            var seconds = Self.longestSleep
            do {
                let next = try await receiver.take(inbox.empty())
                seconds = min(seconds, max(next.timeIntervalSinceNow, 0.1))
            } catch is CancellationError {
                return
            } catch {
                log.warning(
                    "what the forge of \(record.repository) told could not be used: \(error)",
                    metadata: .code(.forgeUnusable, repository: record.repository))
            }
            await pause(seconds) { await inbox.wait() }
        }
    }

    /// Serves one connection until the task is cancelled.
    private func serve(_ record: ForgeRecord, _ sessions: ForgeSessions) async {
        let (listener, wanted) = (news(), ForgeSignal())
        let recorder = ForgeRecorder(
            repository: record.repository, index: index,
            places: { [places] in try await places(record.repository) }, noteWanted: { wanted.tell() }, facts: facts)
        await withTaskGroup(of: Void.self) { group in
            while !Task.isCancelled {
                do {
                    try await recorder.record()
                    try await index.doubtForgeItems(of: record.repository)
                    break
                } catch is CancellationError {
                    return
                } catch {
                    warn(record, error)
                    await pause(Self.longestSleep) { await listener.wait() }
                }
            }
            group.addTask { await keepRecording(record, recorder, listener, wanted) }
            group.addTask { await keepDelivering(record, sessions, wanted) }
        }
    }

    /// Notes what is to be shown, until the task is cancelled.
    private func keepRecording(
        _ record: ForgeRecord, _ recorder: ForgeRecorder, _ listener: ForgeNews, _ wanted: ForgeSignal
    ) async {
        var progressAt: Date?
        var told: ForgeRecorder.Told?
        while !Task.isCancelled {
            var seconds = Self.longestSleep
            do {
                try await recorder.record()
                // Others note something for the forge, too.
                wanted.tell()
                var comments = if let told { told } else { try await recorder.told() }
                try await recorder.recordCircumstances(&comments)
                told = comments
                if let at = progressAt, abs(at.timeIntervalSinceNow) >= Self.progressPause {
                    progressAt = try await recorder.recordProgress() ? Date() : nil
                } else if progressAt == nil, try await recorder.hasLiveRuns() {
                    progressAt = Date()
                }
                if progressAt != nil { seconds = Self.progressPause }
            } catch is CancellationError {
                return
            } catch {
                warn(record, error)
            }
            await pause(seconds) { await listener.wait() }
        }
    }

    /// Delivers what is noted, until the task is cancelled. A slow forge does not hold up the notes.
    private func keepDelivering(_ record: ForgeRecord, _ sessions: ForgeSessions, _ wanted: ForgeSignal) async {
        var courier: ForgeCourier?
        while !Task.isCancelled {
            var seconds = Self.longestSleep
            wanted.clear()
            do {
                let now = try courier ?? self.courier(record, sessions)
                courier = now
                if let due = try await now.deliver(hearing: wanted) {
                    seconds = min(seconds, max(due.timeIntervalSinceNow, 0.01))
                }
            } catch is CancellationError {
                return
            } catch {
                // Try again at the next news, at the latest in a minute: a credential may be set meanwhile.
                warn(record, error)
            }
            await pause(seconds) { await wanted.wait() }
        }
    }

    private func warn(_ record: ForgeRecord, _ error: any Error) {
        log.warning(
            "nothing is shown at the forge of \(record.repository): \(error)",
            metadata: .code(.forgeUnusable, repository: record.repository))
    }

    /// Returns when `news` does, after `seconds` at the latest.
    private func pause(_ seconds: Double, until news: @escaping @Sendable () async -> Void) async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await news() }
            group.addTask { try? await Task.sleep(for: .seconds(seconds)) }
            await group.next()
            group.cancelAll()
        }
    }

    private func courier(_ record: ForgeRecord, _ sessions: ForgeSessions) throws -> ForgeCourier {
        ForgeCourier(
            repository: record.repository, index: index, service: try sessions.session().service, log: log,
            resultFile: resultFile)
    }

    private func session(_ record: ForgeRecord, _ http: HTTPClient) throws -> ForgeSession {
        guard let (credential, _) = try credentials.credential(for: record.repository) else {
            throw ForgeError(.badCredential, "no credential is set for it; `pipectl forge connect` asks for one")
        }
        return try ForgeSession(try ForgeAddress(json: record.address), credential, http: http)
    }
}
