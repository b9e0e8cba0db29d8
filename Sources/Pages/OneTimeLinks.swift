public import Foundation
import Synchronization

/// Links that log one browser in, each once. They are in memory only: a daemon that ends takes them along.
public final class OneTimeLinks: Sendable {
    /// How long a link can be used, in seconds.
    static let lifetime = 300.0
    /// Links that can be used at the same time; the oldest makes room for a new one.
    static let most = 100

    private struct Link {
        var person: String
        var expiresAt: Date
    }

    /// By the digests of their codes.
    private let links = Mutex<[Data: Link]>([:])
    private let now: @Sendable () -> Date

    public init(now: @escaping @Sendable () -> Date = { Date() }) { self.now = now }

    /// The code of a new link.
    ///
    /// - Parameter person: Whom it logs in, in words.
    public func make(for person: String) -> String {
        let (code, time) = (Secrecy.random(), now())
        links.withLock { links in
            links = links.filter { $0.value.expiresAt > time }
            if links.count >= Self.most, let oldest = links.min(by: { $0.value.expiresAt < $1.value.expiresAt }) {
                links[oldest.key] = nil
            }
            links[Secrecy.digest(code)] = Link(person: person, expiresAt: time.addingTimeInterval(Self.lifetime))
        }
        return code
    }

    /// Whom a link would log in; nil for one that was used, is too old, or never was.
    func person(of code: String) -> String? {
        let time = now()
        return links.withLock { $0[Secrecy.digest(code)] }.flatMap { $0.expiresAt > time ? $0.person : nil }
    }

    /// Uses a link up.
    func redeem(_ code: String) -> String? {
        let time = now()
        return links.withLock { $0.removeValue(forKey: Secrecy.digest(code)) }
            .flatMap { $0.expiresAt > time ? $0.person : nil }
    }
}

/// How often each source has failed to log in.
final class SignInAttempts: Sendable {
    /// Failures in ``window`` seconds, after which a source must wait.
    static let most = 10
    static let window = 300.0
    /// Sources that are remembered.
    private static let mostSources = 1_000

    private struct Failures {
        var count: Int
        var since: Date
    }

    private let sources = Mutex<[String: Failures]>([:])
    private let now: @Sendable () -> Date

    init(now: @escaping @Sendable () -> Date = { Date() }) { self.now = now }

    func mayTry(_ source: String) -> Bool {
        let time = now()
        return sources.withLock { sources in
            guard let failures = sources[source], time.timeIntervalSince(failures.since) < Self.window else {
                return true
            }
            return failures.count < Self.most
        }
    }

    func noteFailure(of source: String) {
        let time = now()
        sources.withLock { sources in
            if let failures = sources[source], time.timeIntervalSince(failures.since) < Self.window {
                sources[source]?.count += 1
                return
            }
            if sources.count >= Self.mostSources {
                sources = sources.filter { time.timeIntervalSince($0.value.since) < Self.window }
                if sources.count >= Self.mostSources { sources.removeAll() }
            }
            sources[source] = Failures(count: 1, since: time)
        }
    }
}
