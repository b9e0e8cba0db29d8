import Delivery
import ForgeConnection
import Foundation
import Git
import LandedChanges
import Preparing
import Results
import Signing
import Store
import Watching

/// What watched repositories say about the commits of releases.
struct RepositoryReleaseSources: ReleaseSources {
    let repositories: KnownRepositories
    let index: Store.Index

    func address(_ basis: ReleaseBasis) async throws -> String? {
        if let forge = try await index.forges().first(where: { $0.repository == basis.repository }) {
            return try ForgeAddress(json: forge.address).web
        }
        let repository = try await repositories.repository(named: basis.repository)
        let remote: String? =
            repository.isRemote
            ? repository.location
            : try await withRepository(at: repository.gitDirectory) { $0.remoteURL("origin") }
        // Without the user, the password and the port.
        return remote.flatMap(RepositoryAddress.init).map { "https://\($0)" }
    }

    func landed(_ basis: ReleaseBasis) async throws -> LandedNotes {
        let repository = try await repositories.repository(named: basis.repository)
        let rules = try await repositories.rules(for: repository).changeRefs
        let known = try await index.versions(of: basis.repository, limit: 500)
        let earlier = known.filter(basis.follows)
        // Such as of a version that was withdrawn: its changes are new for users.
        let passedOver = Set(known.map(\.tag)).subtracting(earlier.map(\.tag))
        let (tag, commit) = (basis.lastTag, basis.commit)
        // Their branches may be gone.
        let before = try await index.newestChanges(of: basis.repository, limit: 2_000).filter { $0.state == .landed }
        let (line, found) = try await withRepository(at: repository.gitDirectory) { git in
            let new = try git.resolve(commit)
            var old = try Self.previous(earlier.map(\.commit), before: new, in: git)
            if old == nil, let tag {
                let base =
                    passedOver.contains(tag)
                    ? try RunPreparation.lastTag(before: new, repository, except: passedOver) : tag
                old = try base.map { try git.resolve("refs/tags/\($0)^{commit}") }
            }
            let line = try Line(from: old, to: new, in: git)
            var heads = try git.snapshot().refs.compactMap { ref, head -> ChangeHead? in
                if case .change(let name) = rules.kind(of: ref) { ChangeHead(name: name, head: head) } else { nil }
            }
            let names = Set(heads.map(\.name))
            heads += before.compactMap { change in
                guard !names.contains(change.name), let head = OID(hex: change.head), git.contains(head) else {
                    return nil
                }
                return ChangeHead(name: change.name, head: head)
            }
            return (line, heads.isEmpty ? nil : try Landings.draft(heads, in: git, from: old, to: new))
        }
        guard let draft = found else {
            return try await withRepository(at: repository.gitDirectory) { try line.notes(without: [], in: $0) }
        }
        let merger = try await ChangeMerger.find()
        let confirmed = try await merger.confirmed(
            draft.questions, objects: repository.gitDirectory, scratch: ChangeMerger.scratchFolder(repository.store))
        let landings = draft.landings(confirmed: confirmed)
        let facts = try await index.forgeChanges(of: basis.repository, named: landings.map(\.change))
        let named = Dictionary(
            facts.map { (record: ForgeChangeRecord) in (record.name, record.facts) },
            uniquingKeysWith: { first, _ in first })
        var fixed: [String: String] = [:]
        for landing in landings {
            guard let task = try await index.task(withChange: landing.change, repository: basis.repository),
                task.crash != nil || task.source.isFailure
            else { continue }
            fixed[landing.change] = task.title
        }
        let fixes = fixed
        let targets = Dictionary(
            before.compactMap { change in
                OID(hex: change.head).map { (ChangeHead(name: change.name, head: $0), change.targetCommit) }
            }, uniquingKeysWith: { first, _ in first })
        return try await withRepository(at: repository.gitDirectory) { git in
            var landed: Set<OID> = []
            let notes = try landings.map { landing in
                let head = try? git.commit(landing.head)
                let target = targets[ChangeHead(name: landing.change, head: landing.head)] ?? nil
                let own = try Self.own(of: landing, target: target.flatMap(OID.init(hex:)), in: git)
                landed.formUnion(try Self.commits(of: landing, own, on: line.commits, in: git))
                let messages =
                    [try? git.commit(landing.commit)].compactMap(\.?.message) + own.prefix(100).map(\.message)
                return LandedNote(
                    change: landing.change, title: named[landing.change]?.title ?? head?.summary ?? landing.change,
                    author: named[landing.change]?.author ?? head?.author.name ?? "",
                    issues: ReleaseNotes.issues(in: messages.joined(separator: "\n")), fixes: fixes[landing.change])
            }
            var all = try line.notes(without: landed, in: git)
            all.list = notes + all.list
            return all
        }
    }

    /// The change's own commits, newest first.
    ///
    /// - Parameter target: The target's tip when the change was last tested. Nothing else says where a change began that
    ///   landed by fast-forward: without it, only its last commit is known.
    private static func own(of landing: LandedChange, target: OID?, in git: Repository) throws -> [Commit] {
        if landing.how == .fastForward, let target, git.contains(target), target != landing.head,
            try git.isAncestor(target, of: landing.head)
        {
            return try git.log(from: landing.head, excluding: [target], limit: 1_000)
        }
        // The clean-up may have taken the head of a branch that is gone.
        let parents = (try? git.parents(of: landing.commit)) ?? []
        return (try? git.log(from: landing.head, excluding: Array(parents.prefix(1)), limit: 1_000)) ?? []
    }

    /// The commits of the target that are a change.
    private static func commits(
        of landing: LandedChange, _ own: [Commit], on line: [Commit], in git: Repository
    ) throws -> [OID] {
        guard landing.how == .rebase, let place = line.firstIndex(where: { $0.id == landing.commit }) else {
            return [landing.commit] + own.map(\.id)
        }
        // They repeat the change's own commits, which the target does not have.
        let count = try git.log(from: landing.head, excluding: line.prefix(1).map(\.id), limit: line.count).count
        return line[place...].prefix(count).map(\.id)
    }

    func file(_ path: String, _ basis: ReleaseBasis) async throws -> Data? {
        let repository = try await repositories.repository(named: basis.repository)
        let commit = basis.commit
        return try await withRepository(at: repository.store) { git in
            try OID(hex: commit).flatMap { try git.smallFile(path, at: $0, atMost: 16 << 20) }.map { Data($0) }
        }
    }

    func paths(named names: Set<String>, _ basis: ReleaseBasis) async throws -> [String] {
        let repository = try await repositories.repository(named: basis.repository)
        let commit = basis.commit
        return try await withRepository(at: repository.store) { git in
            guard let tree = try OID(hex: commit).flatMap({ try git.treeID(of: $0, path: "") }) else { return [] }
            return try git.entries(ofTree: tree, recursive: true).filter { $0.kind == .blob && names.contains($0.name) }
                .map(\.path)
        }
    }

    /// The newest of these commits that is an ancestor; nil: none is.
    private static func previous(_ commits: [String], before new: OID, in git: Repository) throws -> OID? {
        for commit in commits {
            guard let old = OID(hex: commit), old != new, git.contains(old) else { continue }
            if try git.isAncestor(old, of: new) { return old }
        }
        return nil
    }
}

/// The commits of a branch since the release before.
private struct Line {
    /// The most commits that are listed of a first release, whose history may be long.
    private static let mostOfFirst = 50
    private static let most = 1_000

    /// Newest first, at most ``most``.
    let commits: [Commit]
    /// How many there are.
    private let count: Int
    private let isFirst: Bool

    /// - Parameter old: The commit of the release before; nil for a first release.
    init(from old: OID?, to new: OID, in git: Repository) throws {
        let excluded = old.map { [$0] } ?? []
        commits = try git.log(from: new, excluding: excluded, limit: Self.most, firstParent: true)
        count =
            commits.count < Self.most
            ? commits.count : try git.walk(from: new, excluding: excluded, limit: nil, firstParent: true).count
        isFirst = old == nil
    }

    /// What was pushed to the branch itself, oldest first.
    func notes(without landed: Set<OID>, in git: Repository) throws -> LandedNotes {
        let own = commits.filter { !landed.contains($0.id) }
        let listed = isFirst ? own.prefix(Self.mostOfFirst) : own[...]
        return LandedNotes(
            try listed.reversed().map { try Self.note(of: $0, in: git) },
            older: count - commits.count + own.count - listed.count)
    }

    private static func note(of commit: Commit, in git: Repository) throws -> LandedNote {
        var (title, author, messages) = (commit.summary, commit.author, [commit.message])
        if commit.parents.count > 1 {
            // The merge itself comes first.
            let brought = try git.log(from: commit.id, excluding: Array(commit.parents.prefix(1)), limit: 101)
                .dropFirst()
            title = MergedTitle.of(commit, bringing: brought.count == 1 ? brought.first : nil)
            author = try git.commit(commit.parents[1]).author
            messages += brought.map(\.message)
        }
        return LandedNote(
            change: "commit \(commit.id.hex.prefix(10))", title: title, author: author.name,
            issues: ReleaseNotes.issues(in: messages.joined(separator: "\n")))
    }
}
