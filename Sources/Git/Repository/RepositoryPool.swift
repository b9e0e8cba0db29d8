internal import Synchronization

/// The blocking form of ``withRepository(at:_:)``, for callers that already use another repository.
public func lendRepository<T>(at path: String, _ body: (Repository) throws -> T) throws -> T {
    try RepositoryPool.lend(path, body)
}

/// Closes the repositories that ``withRepository(at:_:)`` keeps open.
public func closeIdleRepositories() { RepositoryPool.empty() }

/// Repositories that stay open for later calls.
///
/// Opening one takes libgit2 about sixty system calls, and a run opens the same three a dozen times. Each is lent to
/// one caller at a time, and only as long as the files that were read when it was opened are unchanged. libgit2 itself
/// reads refs, packed refs and loose objects again when they change.
enum RepositoryPool {
    /// The most open repositories in total, and for one path, because each keeps descriptors and mapped packs.
    private static let most = 8
    private static let mostOfOne = 3

    private struct Idle {
        let path: String
        let repository: Repository
        let stamp: RepositoryStamp
    }

    /// `Repository` is not `Sendable`, because one thread at a time may use its handle. Repositories in here are used
    /// by none, and whoever takes one out is its only user.
    private struct Shelf: @unchecked Sendable {
        var idle: [Idle] = []
        /// The files that decide whether an open repository is still valid, by path.
        var places: [String: RepositoryStamp.Places] = [:]

        mutating func take(_ path: String) -> Shelf {
            guard let place = idle.lastIndex(where: { $0.path == path }) else { return Shelf() }
            return Shelf(idle: [idle.remove(at: place)])
        }

        mutating func put(_ one: Idle) {
            idle.append(one)
            let same = idle.indices.filter { idle[$0].path == one.path }
            if same.count > mostOfOne { idle.remove(at: same[0]) }
            if idle.count > most { idle.removeFirst() }
        }
    }

    private static let shelf = Mutex(Shelf())

    /// Runs `body` with an open repository. It blocks, so call it on a thread where that is allowed.
    static func lend<T>(_ path: String, _ body: (Repository) throws -> T) throws -> T {
        let one = try take(path)
        // If it throws, the repository is not kept, because it or the facts about it may be wrong.
        let result = try body(one.repository)
        if let stamp = one.stamp {
            let kept = Shelf(idle: [Idle(path: path, repository: one.repository, stamp: stamp)])
            shelf.withLock { shelf in kept.idle.forEach { shelf.put($0) } }
        }
        return result
    }

    static func empty() { shelf.withLock { $0.idle = [] } }

    private static func take(_ path: String) throws -> (repository: Repository, stamp: RepositoryStamp?) {
        while let one = shelf.withLock({ $0.take(path) }).idle.first {
            if one.stamp == RepositoryStamp(one.stamp.places) { return (one.repository, one.stamp) }
        }
        // Taken before it is opened, so that a change in between makes the stamp outdated.
        let stamp = shelf.withLock { $0.places[path] }.map { RepositoryStamp($0) }
        let repository: Repository
        do { repository = try Repository(opening: path) } catch {
            // Opening may have failed because the waiting repositories hold too many descriptors.
            empty()
            throw error
        }
        let places = RepositoryStamp.Places(of: repository, at: path)
        if places != stamp?.places {
            shelf.withLock { shelf in
                if shelf.places.count > 1_000 { shelf.places = [:] }
                shelf.places[path] = places
            }
        }
        return (repository, places != nil && places == stamp?.places ? stamp : nil)
    }
}
