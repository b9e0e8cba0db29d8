import Foundation
import Git
import Layers
import MachineProtocol
import Sandbox

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// A bare repository of this machine with the commits of runs. Commits come only from the daemon, and each is kept by a
/// ref once everything that it needs is there.
///
/// A mirror that is damaged is not mended: the next one is made beside it, and the old one is removed when no run reads
/// it any more.
struct Mirror: Sendable {
    /// The folder of the repository's mirrors, which are numbered.
    let folder: String
    private static let tips = "refs/pipectl/tips"

    /// - Parameter name: What the daemon calls the repository.
    /// - Throws: ``MachineProblem`` if the name is none for a folder.
    init(_ name: String, in mirrors: String) throws {
        guard AttemptOrder.isName(name) else {
            throw MachineProblem.other("a mirror has a name that is no name of a file")
        }
        folder = "\(mirrors)/\(name)"
    }

    /// A mirror that no other process removes as long as this value lives.
    struct Held: Sendable {
        let path: String
        let lock: FolderLock
        var objects: String { "\(path)/objects" }
    }

    /// The newest mirror; an empty one is made if there is none.
    func hold() throws -> Held {
        for _ in 0..<100 {
            let number = numbers().last ?? 1
            let path = "\(folder)/\(number).git"
            if !FileManager.default.fileExists(atPath: "\(path)/HEAD") { try make(path) }
            // Only one that is about to be removed can't be locked.
            if let lock = FolderLock("\(path)/pipectl.lock", creates: true, isShared: true) {
                return Held(path: path, lock: lock)
            }
            usleep(20_000)
        }
        throw MachineProblem.mirror("the mirror in \(folder) is locked; see what runs there")
    }

    private func numbers() -> [Int] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return names.compactMap { $0.hasSuffix(".git") ? Int($0.dropLast(4)) : nil }.sorted()
    }

    /// Makes it elsewhere and moves it, so that no other agent sees half of it.
    private func make(_ path: String) throws {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let new = "\(folder)/new-\(UInt64.random(in: .min ... .max))"
        _ = try Repository.create(bareAt: new)
        // What was begun and has no HEAD is of no use to anybody.
        if FileManager.default.fileExists(atPath: path), !FileManager.default.fileExists(atPath: "\(path)/HEAD") {
            try FolderRemoval.remove(path)
        }
        if rename(new, path) != 0 { try FolderRemoval.remove(new) }
        // Steps run as other users where the agent is root.
        chmod(path, 0o755)
    }

    /// Begins an empty mirror, and removes the older ones that nobody reads.
    func renew() throws {
        let all = numbers()
        try make("\(folder)/\((all.last ?? 0) + 1).git")
        removeFree(all)
    }

    /// Removes those of the numbered mirrors that nobody holds.
    private func removeFree(_ numbers: [Int]) {
        for number in numbers {
            let path = "\(folder)/\(number).git"
            guard let lock = FolderLock("\(path)/pipectl.lock", creates: true, isShared: false) else { continue }
            try? FolderRemoval.remove(path)
            lock.giveBack()
        }
    }

    /// The commits of the newest mirror that were used last; none for a mirror that has become too large, which is
    /// replaced by an empty one.
    func state() throws -> MirrorState {
        let held = try hold()
        if isWorn(held) {
            // Otherwise it could not be removed.
            held.lock.giveBack()
            try renew()
            return MirrorState(tips: [])
        }
        let found = refs(of: held).sorted { $0.used > $1.used }
        return MirrorState(tips: found.prefix(MirrorState.most).map(\.name))
    }

    /// The most packs of a mirror: each run of a new commit brings one, and each makes the search for an object longer.
    static let mostPacks = 200
    /// A mirror of less is never too large.
    private static let fewBytes = 2 << 30

    /// Whether a new mirror would be much smaller: what belongs to commits of long ago is never removed from one.
    private func isWorn(_ held: Held) -> Bool {
        let files = FileManager.default
        let folder = "\(held.objects)/pack"
        let sizes = ((try? files.contentsOfDirectory(atPath: folder)) ?? []).filter { $0.hasSuffix(".pack") }.map {
            (try? files.attributesOfItem(atPath: "\(folder)/\($0)"))?[.size] as? Int ?? 0
        }
        // The first pack has the whole history of its time.
        return sizes.count > Self.mostPacks
            || sizes.reduce(0, +) > max(Self.fewBytes, 4 * (sizes.max() ?? 0))
    }

    /// Removes the mirrors of a machine that no run has used for `lifetime` seconds and nobody holds.
    static func removeUnused(in mirrors: String, for lifetime: Double) {
        let files = FileManager.default
        for name in (try? files.contentsOfDirectory(atPath: mirrors)) ?? [] {
            guard let mirror = try? Mirror(name, in: mirrors), !mirror.numbers().isEmpty else { continue }
            let dates = mirror.numbers().compactMap { number -> Date? in
                let path = "\(mirror.folder)/\(number).git"
                // Each run touches a ref, or makes one.
                let refs = (try? files.contentsOfDirectory(atPath: "\(path)/\(tips)")) ?? []
                return (refs.map { "\(path)/\(tips)/\($0)" } + [path]).compactMap {
                    (try? files.attributesOfItem(atPath: $0))?[.modificationDate] as? Date
                }.max()
            }
            guard let used = dates.max(), used.timeIntervalSinceNow < -lifetime else { continue }
            mirror.removeFree(mirror.numbers())
            rmdir(mirror.folder)
        }
    }

    private func refs(of held: Held) -> [(name: String, used: Date)] {
        let folder = "\(held.path)/\(Mirror.tips)"
        let files = FileManager.default
        return ((try? files.contentsOfDirectory(atPath: folder)) ?? []).compactMap { name in
            guard OID(hex: name) != nil else { return nil }
            let facts = try? files.attributesOfItem(atPath: "\(folder)/\(name)")
            return (name, facts?[.modificationDate] as? Date ?? .distantPast)
        }
    }

    /// Takes a pack, which `next` gives in pieces, and keeps the commit.
    ///
    /// - Throws: ``MachineProblem/mirror(_:)`` if something is damaged or missing.
    func take(_ commit: OID, _ next: () throws -> [UInt8]?) throws {
        let held = try hold()
        do {
            let receiver = try PackReceiver(into: Repository(opening: held.path))
            while let piece = try next() { try piece.withUnsafeBytes { try receiver.append($0) } }
            try receiver.finish()
            let repository = try Repository(opening: held.path)
            _ = try repository.treeID(of: commit)
            try repository.keep(commit, as: "\(Mirror.tips)/\(commit.hex)")
        } catch let problem as GitError {
            throw Mirror.problem(problem, held)
        }
        // A ref that was not used for long only makes the list longer: what it needs stays in the packs.
        for old in refs(of: held).sorted(by: { $0.used > $1.used }).dropFirst(2 * MirrorState.most) {
            unlink("\(held.path)/\(Mirror.tips)/\(old.name)")
        }
    }

    /// What it means that a pack could not be taken: without a code of the system, something is damaged or missing.
    private static func problem(_ problem: GitError, _ held: Held) -> MachineProblem {
        if let code = problem.systemError { return full(code, held) }
        return .mirror("the mirror \(held.path): \(problem)")
    }

    /// What it means that the files of a commit could not be written. It blocks.
    ///
    /// Whoever wrote the commit can choose names that this machine's file system refuses. So a mirror is damaged only if
    /// what it has of the commit can't be read.
    static func problem(_ problem: any Error, writing commit: OID, _ held: Held) -> any Error {
        let code: Int32?
        switch problem {
        case let problem as GitError: code = problem.systemError
        // The machine is slow, or had no memory left.
        case let problem as CheckoutProblem where problem.wasEnded: return MachineProblem.other("\(problem)")
        case let problem as CheckoutProblem: code = problem.systemError
        case is TreeExcess: return MachineProblem.files("\(problem)")
        default: return problem
        }
        if let code { return full(code, held) }
        // One that was open before may have in memory what is damaged on the disk.
        guard let repository = try? Repository(opening: held.path), repository.isWhole(commit) else {
            return MachineProblem.mirror("the mirror \(held.path): \(problem)")
        }
        return MachineProblem.files("\(problem)")
    }

    private static func full(_ code: Int32, _ held: Held) -> MachineProblem {
        .other("the mirror \(held.path): \(String(cString: strerror(code)))")
    }

    /// Notes that a run uses a commit now.
    static func touch(_ commit: OID, _ held: Held) { _ = utimes("\(held.path)/\(Mirror.tips)/\(commit.hex)", nil) }
}
