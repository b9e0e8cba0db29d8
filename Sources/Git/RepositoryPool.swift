internal import Synchronization

/// The blocking form of ``withRepository(at:_:)``, for a second repository beside the one that is at hand.
public func lendRepository<T>(at path: String, _ body: (Repository) throws -> T) throws -> T {
    try RepositoryPool.lend(path, body)
}

/// Closes the repositories that ``withRepository(at:_:)`` keeps open for its next caller.
public func closeIdleRepositories() { RepositoryPool.empty() }

/// Repositories that stay open for the next call that needs them.
///
/// Opening one costs libgit2 about sixty system calls, and a run opens the same three a dozen times. One is lent to a
/// single caller at a time, and only while what was read when it was opened is the same; refs, packed refs and loose
/// objects libgit2 reads anew by itself.
enum RepositoryPool {
    /// Of all repositories together, and of one path: what is open keeps descriptors and mapped packs.
    private static let most = 8
    private static let mostOfOne = 3

    private struct Idle {
        let path: String
        let repository: Repository
        let stamp: RepositoryStamp
    }

    /// `Repository` is not `Sendable`, for its handle may be used by one thread at a time: what is in here is used by none,
    /// and whoever takes it out is the only one who has it.
    private struct Shelf: @unchecked Sendable {
        var idle: [Idle] = []
        /// What decides whether an open repository is still good, by path.
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

    /// Runs `body` with an open repository. Blocks; for a thread where that is allowed.
    static func lend<T>(_ path: String, _ body: (Repository) throws -> T) throws -> T {
        let one = try take(path)
        // Not kept when it throws: then something may be wrong with the repository, or with what is remembered of it.
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
        // Taken before it is opened: what changes in between makes the stamp an old one.
        let stamp = shelf.withLock { $0.places[path] }.map { RepositoryStamp($0) }
        let repository: Repository
        do { repository = try Repository(opening: path) } catch {
            // It may be for want of descriptors, which those hold that wait here.
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
