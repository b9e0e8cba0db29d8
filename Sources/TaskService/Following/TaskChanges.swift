import Control
import Git
package import Landing
import Results
import Sandbox
package import Store
import TerminalText
package import Watching

/// Brings what an agent made to people as a change, and sees what becomes of it.
package struct TaskChanges: Sendable {
    let index: Store.Index
    let repositories: KnownRepositories
    let landings: LandingHandler
    let opener: any ChangeOpener

    package init(
        index: Store.Index, repositories: KnownRepositories, landings: LandingHandler, opener: any ChangeOpener
    ) {
        self.index = index
        self.repositories = repositories
        self.landings = landings
        self.opener = opener
    }

    // MARK: Opening

    /// Pushes a try to the branch of the task, and opens its change there. May be repeated.
    func open(_ made: TaskTry, of known: TaskFacts.Known, _ text: ChangeText) async throws -> TaskEvent.What {
        var task = known.task
        let repository = try await repositories.repository(named: task.repository)
        let ref = "refs/heads/\(task.changeBranch)"
        let tip = try await withRepository(at: repository.gitDirectory) {
            try $0.snapshot(under: "refs/heads/").refs[ref]?.hex
        }
        let opened = Self.opened(known.events)
        if tip != made.commit {
            // Only what was pushed for this task before may be replaced. A commit by hand on top of it stays.
            guard tip == nil || tip == opened?.commit else {
                return Self.notPushed(
                    "its branch \(task.changeBranch) has commits that are not of this task; take what you need of "
                        + "\(made.commit.prefix(10)) by hand", opened != nil)
            }
            let result = try await LeasedPush(repository, ref: ref, from: tip ?? "", to: made.commit).run()
            guard result.succeeded else {
                let said = result.text.split(whereSeparator: \.isNewline).first {
                    $0.contains("!") || $0.contains("fatal") || $0.contains("error")
                }
                return Self.notPushed(
                    "git push: \(TerminalText.name(String(said ?? "failed"), limit: 300))", opened != nil)
            }
            repositories.watchers[repository.name]?.wakeUp()
        }
        task.change = opened?.name ?? task.change
        if let there = try await opener.existing(task, in: repository) {
            task.change = there.name
            try await opener.update(task, text, in: repository)
            return .changeOpened(name: there.name, link: there.link, commit: made.commit)
        }
        let change = try await opener.open(task, text, in: repository)
        return .changeOpened(name: change.name, link: change.link, commit: made.commit)
    }

    private static func notPushed(_ why: String, _ isOpen: Bool) -> TaskEvent.What {
        isOpen
            ? .landingFailed(reason: "the new work is not pushed: \(why)") : .gaveUp(reason: "it is not pushed: \(why)")
    }

    /// The change as it was opened last, since the task was last taken up again.
    static func opened(_ events: [TaskEvent]) -> (name: String, commit: String)? {
        for event in events.reversed() {
            switch event.what {
            case .changeOpened(let name, _, let commit): return (name, commit)
            case .reopened: return nil
            default: continue
            }
        }
        return nil
    }

    // MARK: What becomes of it

    /// What has happened to the change since it was opened, the next thing only; nil: nothing new.
    func news(of known: TaskFacts.Known) async throws -> TaskEvent.What? {
        let task = known.task
        switch task.state {
        case .ready: return try await decided(task)
        case .landing:
            if let decided = try await decided(task) { return decided }
            return try await landing(known)
        case .landed: return try await release(of: task)
        case .released: return try await delivery(of: known)
        default: return nil
        }
    }

    private func decided(_ task: TaskRecord) async throws -> TaskEvent.What? {
        guard let name = task.change, let change = try await index.change(name, of: task.repository) else {
            return nil
        }
        switch change.state {
        case .landed: return change.landedCommit.map { .landed(commit: $0) }
        case .closed: return .refused(reason: "its change was closed")
        case .open, .conflict, .stale: return nil
        }
    }

    /// Puts the change into its merge queue, unless it is there, or has left it since.
    private func landing(_ known: TaskFacts.Known) async throws -> TaskEvent.What? {
        let task = known.task
        guard let opened = Self.opened(known.events),
            let asked = known.events.last(where: { $0.what == .landingAsked })
        else { return nil }
        let left = try await index.landings(of: task.repository, branch: task.branch).first {
            $0.change == opened.name && $0.endedAt >= asked.at
        }
        if let left {
            guard left.outcome == .landed || left.outcome == .landedElsewhere, let commit = left.commit ?? left.tip
            else { return .landingFailed(reason: left.reason) }
            return .landed(commit: commit)
        }
        if try await landings.queues.places(of: task.repository)[opened.name] != nil { return nil }
        do {
            _ = try await landings.land(
                LandRequest(repository: task.repository, change: opened.name), by: asked.by ?? "pipectl")
            return nil
        } catch let error as RequestError {
            return .landingFailed(reason: error.description)
        }
    }

    /// The first release with the commit by which the change landed.
    private func release(of task: TaskRecord) async throws -> TaskEvent.What? {
        guard let hex = task.landedCommit, let landed = OID(hex: hex) else { return nil }
        let releases = try await index.versions(of: task.repository, limit: 100).filter { $0.state != .yanked }
        guard !releases.isEmpty else { return nil }
        let repository = try await repositories.repository(named: task.repository)
        let first = try await withRepository(at: repository.gitDirectory) { git in
            // Oldest first.
            try releases.reversed().first { release in
                guard let commit = OID(hex: release.commit), git.contains(commit), git.contains(landed) else {
                    return false
                }
                return commit == landed ? true : try git.isAncestor(landed, of: commit)
            }
        }
        return first.map { .released(version: $0.version, run: $0.run) }
    }

    /// The next place where the release has arrived.
    private func delivery(of known: TaskFacts.Known) async throws -> TaskEvent.What? {
        guard let version = known.task.release,
            let release = try await index.release(version, of: known.task.repository)
        else { return nil }
        let told = Set(
            known.events.compactMap { event -> String? in
                if case .delivered(version, let to) = event.what { to } else { nil }
            })
        return release.publications.first { $0.hasArrived && !told.contains($0.destination) }
            .map { .delivered(version: version, to: $0.destination) }
    }

    /// Whether every publication of the task's release has arrived.
    func isDelivered(_ task: TaskRecord) async throws -> Bool {
        guard let version = task.release, let release = try await index.release(version, of: task.repository) else {
            return false
        }
        return release.state == .published && release.publications.allSatisfy(\.hasArrived)
    }
}

extension PublicationRecord {
    /// Whether users or testers have it.
    fileprivate var hasArrived: Bool {
        switch state {
        case .begun, .processing, .refused: false
        case .uploaded, .testing, .released: true
        }
    }
}
