import Foundation
public import Logging
public import Results
public import Store
import AsyncHTTPClient
import NIOCore
import NIOHTTPCompression

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
    private let log: Logger
    private let facts: @Sendable (RunSummary) async throws -> ForgeRunFacts
    private let resultFile: @Sendable (RunID, String) async throws -> [UInt8]?
    private let news: @Sendable () -> ForgeNews

    /// - Parameters:
    ///   - news: Makes a listener for changes of runs and connections. It misses nothing that happens after it was
    ///     made.
    ///   - facts: Facts about a run that are not in its row: progress, report, page.
    public init(
        index: Store.Index, credentials: ForgeCredentialStore, log: Logger,
        news: @escaping @Sendable () -> ForgeNews,
        facts: @escaping @Sendable (RunSummary) async throws -> ForgeRunFacts,
        resultFile: @escaping @Sendable (RunID, String) async throws -> [UInt8]?
    ) {
        self.index = index
        self.credentials = credentials
        self.log = log
        self.news = news
        self.facts = facts
        self.resultFile = resultFile
    }

    /// Runs until the task is cancelled. It takes up connections that are added or removed meanwhile.
    public func run() async {
        while !Task.isCancelled {
            let listener = news()
            let records = (try? await index.forges()) ?? []
            guard !records.isEmpty else {
                // Without a connection, there are no HTTP client and no threads of one.
                await waitForConnections(otherThan: [], listener)
                continue
            }
            let http = HTTPClient(eventLoopGroupProvider: .singleton, configuration: Self.configuration)
            await withTaskGroup(of: Void.self) { group in
                for record in records { group.addTask { await serve(record, http) } }
                group.addTask { await waitForConnections(otherThan: records, listener) }
                await group.next()
                group.cancelAll()
            }
            try? await http.shutdown()
        }
    }

    static var configuration: HTTPClient.Configuration {
        var configuration = HTTPClient.Configuration(
            redirectConfiguration: .disallow, timeout: .init(connect: .seconds(10), read: .seconds(20)))
        configuration.connectionPool.idleTimeout = .seconds(30)
        configuration.decompression = .enabled(limit: .size(ForgeClient.mostBytes))
        return configuration
    }

    private func waitForConnections(otherThan records: [ForgeRecord], _ listener: ForgeNews) async {
        while !Task.isCancelled {
            await listener.wait()
            if let now = try? await index.forges(), now != records { return }
        }
    }

    /// Serves one connection until the task is cancelled.
    private func serve(_ record: ForgeRecord, _ http: HTTPClient) async {
        let listener = news()
        var courier: ForgeCourier?
        var progressAt = Date.distantPast
        while !Task.isCancelled {
            var pause = Self.longestSleep
            do {
                let recorder = ForgeRecorder(repository: record.repository, index: index, facts: facts)
                try await recorder.record()
                if abs(progressAt.timeIntervalSinceNow) >= Self.progressPause {
                    progressAt = try await recorder.recordProgress() ? Date() : .distantPast
                }
                if progressAt != .distantPast { pause = Self.progressPause }
                let now = try courier ?? self.courier(record, http)
                courier = now
                if let due = try await now.deliver() { pause = min(pause, max(due.timeIntervalSinceNow, 0.05)) }
            } catch is CancellationError {
                return
            } catch {
                // Try again at the next news, at the latest in a minute: a credential may be set meanwhile.
                log.warning("nothing is shown at the forge of \(record.repository): \(error)")
            }
            await withTaskGroup(of: Void.self) { [pause] group in
                group.addTask { await listener.wait() }
                group.addTask { try? await Task.sleep(for: .seconds(pause)) }
                await group.next()
                group.cancelAll()
            }
        }
    }

    private func courier(_ record: ForgeRecord, _ http: HTTPClient) throws -> ForgeCourier {
        guard let (credential, _) = try credentials.credential(for: record.repository) else {
            throw ForgeError(
                .badCredential,
                "no credential is set for it; `pipectl forge connect` asks for one")
        }
        let address = try ForgeAddress(json: record.address)
        return ForgeCourier(
            repository: record.repository, index: index,
            service: try ForgeSession(address, credential, http: http).service, log: log, resultFile: resultFile)
    }
}

extension ForgeAddress {
    /// The connection as the store keeps it. Throws an error of the encoder.
    public func json() throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(self), as: UTF8.self)
    }

    public init(json: String) throws {
        do {
            self = try JSONDecoder().decode(ForgeAddress.self, from: Data(json.utf8))
        } catch {
            throw ForgeError(.badAddress, "the connection was stored by another version of pipectl; connect it again")
        }
    }
}
