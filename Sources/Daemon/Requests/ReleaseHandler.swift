import Control
import DaemonLog
import Delivery
import Logging
import Results
import Store
import Watching

/// Answers the requests about releases.
struct ReleaseHandler: Sendable {
    let index: Store.Index
    let folders: ReleaseFolders
    let repositories: KnownRepositories
    let log: Logger

    /// The longest notes, in bytes. GitHub takes 125,000 characters.
    static let longestNotes = 120_000

    /// The reply to such a request; nil for other requests.
    func reply(to request: DaemonRequest, by caller: Caller) async throws -> DaemonReply? {
        switch request {
        case .releases(let query):
            var name: String?
            if let place = query.repository { name = try await repositories.name(of: place) }
            var releases = try await index.versions(of: name, limit: min(max(query.limit, 0), 1_000))
            for place in releases.indices { releases[place] = try await gates.marked(releases[place]) }
            return .releases(releases)
        case .release(let subject): return .release(try await detail(of: try await release(subject)))
        case .setReleaseNotes(let subject, let notes):
            return .completed(try await setNotes(notes, of: subject, by: caller))
        case .yankRelease(let subject, let reason):
            return .completed(try await yank(subject, reason, by: caller))
        default: return nil
        }
    }

    private var records: ReleaseRecords { ReleaseRecords(index, folders) }
    private var gates: ReleaseGates { ReleaseGates(index: index) }

    /// A release with its gate and its folder.
    func detail(of release: ReleaseRecord) async throws -> ReleaseDetail {
        ReleaseDetail(release: try await gates.marked(release), folder: folders.folder(of: release))
    }

    private func release(_ subject: ReleaseSubject) async throws -> ReleaseRecord {
        let name = try await repositories.name(of: subject.repository)
        let known = try await index.versions(of: name, limit: 1_000)
        let wanted = subject.version
        if wanted == ReleaseVersion.newest {
            if let latest = known.latest { return latest }
            if let last = known.first {
                throw RequestError(
                    .unknownRelease,
                    "every release of \(name) was withdrawn, \(last.version) last: \(last.reason ?? "nobody said why"); name "
                        + "the version to see one")
            }
        }
        if let release = known.first(where: { $0.version == wanted }) ?? known.first(where: { $0.tag == wanted }) {
            return release
        }
        let some = known.prefix(5).map(\.version).joined(separator: ", ")
        throw RequestError(
            .unknownRelease,
            "\(name) has no release \"\(wanted)\"; " + (some.isEmpty ? "it has none yet" : "the newest are \(some)"))
    }

    private func setNotes(
        _ notes: String, of subject: ReleaseSubject, by caller: Caller
    ) async throws -> CompletedAction {
        let release = try await release(subject)
        guard notes.utf8.count <= Self.longestNotes else {
            throw RequestError(.usage, "notes take at most \(Figures.grouped(Self.longestNotes)) bytes; shorten them")
        }
        guard notes.contains(where: { !$0.isWhitespace }) else {
            throw RequestError(
                .usage, "there is nothing in the notes; write what is new, or leave those that are there")
        }
        guard !notes.utf8.contains(0) else { throw RequestError(.usage, "notes can't contain a NUL byte") }
        guard release.state != .yanked else {
            throw RequestError(.usage, "release \(release.version) was withdrawn; its notes stay as they are")
        }
        if let (run, approval) = try await lastApproval(of: release) {
            throw RequestError(
                .usage,
                "release \(release.version) was \(approval.inWords), with the notes that it has; to change them, "
                    + "`pipectl cancel \(run)`, and run the workflow again after that")
        }
        guard try await index.setNotes(notes, of: release.version, in: release.repository) else {
            throw RequestError(
                .usage,
                "the notes of \(release.version) are signed, since publishing has begun; edit them before the step that "
                    + "publishes, with an approval between")
        }
        try await records.keep(release.version, of: release.repository)
        log.notice(
            "\(release.repository): \(caller.name) wrote the notes of release \(release.version)",
            metadata: .code(.releaseNotes, run: release.run, repository: release.repository))
        return .wroteNotes(version: release.version)
    }

    /// The run that publishes the release next, and the approval with which it may; nil while one that it needs is not
    /// given.
    private func lastApproval(of release: ReleaseRecord) async throws -> (RunID, Approval)? {
        let filter = RunFilter(
            repository: release.repository, workflow: release.workflow, commitPrefix: release.commit,
            states: [.queued, .running])
        for run in try await index.runs(filter) {
            let given = try await index.approvals(of: run.id).filter { $0.decision == .approved }
            let names = given.compactMap(\.step)
            // Of a release that was made before they were noted, whatever was approved since counts.
            let gates =
                release.gates ?? given.filter { $0.askedAt >= release.madeAt }.compactMap { $0.step.map { [$0] } }
            let isPassed = gates.contains { !$0.isEmpty && $0.allSatisfy(names.contains) }
            if isPassed, let last = given.last(where: { $0.step != nil }) { return (run.id, last) }
        }
        return nil
    }

    private func yank(
        _ subject: ReleaseSubject, _ reason: String, by caller: Caller
    ) async throws -> CompletedAction {
        let release = try await release(subject)
        guard (1...1_000).contains(reason.utf8.count) else {
            throw RequestError(.usage, "say why, in at most 1,000 bytes: `--reason 'it loses data'`")
        }
        let said = "\(reason) (\(caller.name))"
        guard
            try await index.move(
                release.version, of: release.repository, from: [.draft, .sealed, .published], to: .yanked,
                reason: said)
        else { throw RequestError(.usage, "release \(release.version) is withdrawn already") }
        try await records.keep(release.version, of: release.repository)
        log.notice(
            "\(release.repository): \(caller.name) withdrew release \(release.version)",
            metadata: .code(.releaseYanked, run: release.run, repository: release.repository))
        // A step that publishes may have got further since the release was read.
        let now = try await index.release(release.version, of: release.repository) ?? release
        return .yanked(
            version: release.version,
            published: now.publications.filter { ![.begun, .refused].contains($0.state) }.map(\.destination),
            begun: now.publications.filter { $0.state == .begun }.map(\.destination))
    }
}
