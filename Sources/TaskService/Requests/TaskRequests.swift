package import Control
import ForgeConnection
package import Forges
import Foundation
import Pipeline
package import Results
package import Running
package import Store
import TerminalText
package import Watching

/// What people, agents and sources may ask for about tasks. Every front end calls this.
package struct TaskRequests: Sendable {
    package let index: Store.Index
    let repositories: KnownRepositories
    let declarations: TaskDeclarations
    let crashes: CrashLookup
    let issues: ForgeIssues
    package let files: TaskFiles
    let queue: RunQueue
    /// Does what is due for tasks.
    let settle: @Sendable () async -> Void

    package init(
        index: Store.Index, repositories: KnownRepositories, declarations: TaskDeclarations,
        crashes: CrashLookup, issues: ForgeIssues, files: TaskFiles, queue: RunQueue,
        settle: @escaping @Sendable () async -> Void
    ) {
        self.index = index
        self.repositories = repositories
        self.declarations = declarations
        self.crashes = crashes
        self.issues = issues
        self.files = files
        self.queue = queue
        self.settle = settle
    }

    // MARK: Looking

    /// A task with everything that happened to it.
    package func show(_ id: TaskID, by actor: TaskActor = .pipectl) async throws -> TaskView {
        try actor.requireSight(of: id)
        guard let task = try await index.task(id) else { throw TaskFailure.unknown(id) }
        return TaskView(
            task: task, events: try await index.taskEvents(of: id),
            runs: try await index.taskRuns(of: id).map(\.summary))
    }

    /// The tasks that a filter selects, newest first.
    package func list(_ filter: TaskFilter, by actor: TaskActor = .pipectl) async throws -> [TaskRecord] {
        var filter = filter
        filter.limit = min(max(filter.limit, 0), 1_000)
        if let place = filter.repository { filter.repository = try await repositories.name(of: place) }
        return try await index.tasks(filter).filter { actor.ownTask == nil || $0.id == actor.ownTask }
    }

    /// The task now, and again after each change of it, until it ends.
    package func follow(
        _ id: TaskID, by actor: TaskActor, _ reply: @Sendable (TaskView) async throws -> Void
    ) async throws {
        var shown: TaskView?
        while true {
            try Task.checkCancellation()
            let mark = queue.board.news.mark(of: [])
            let view = try await show(id, by: actor)
            if view != shown { try await reply(view) }
            shown = view
            if view.task.state.isEnded { return }
            await withTaskGroup(of: Void.self) { [news = queue.board.news] group in
                group.addTask { await news.wait(since: mark) }
                group.addTask { try? await Task.sleep(for: .seconds(2)) }
                await group.next()
                group.cancelAll()
            }
        }
    }

    // MARK: Adding

    /// Makes a task, or finds the one for the same work.
    package func add(_ draft: TaskDraft, by actor: TaskActor) async throws -> (task: TaskRecord, isNew: Bool) {
        guard actor.ownTask == nil else { throw TaskFailure.needsPerson(wanted: "add") }
        try Self.check(draft)
        let repository = try await repository(of: draft)
        let draft = try await withIssue(draft, by: actor, in: repository)
        let key = draft.key ?? "request \(UUID().uuidString)"
        if let known = try await index.task(withKey: key, repository: repository.name) { return (known, false) }
        let found = try await declarations.find(in: repository)
        var findings: LookedUpCrash?
        if let report = draft.crash {
            let place = CrashPlace(repository: repository.name, store: repository.store, tip: found.commit)
            let read = try await crashes.lookUp(Array(report), version: draft.version, in: place)
            if let known = try await count(read, key: key, isOfPerson: draft.source == .person, place) {
                await goOn()
                return (known, false)
            }
            findings = read
        }
        var task = TaskRecord(
            id: 0, repository: repository.name, branch: found.declaration.branch,
            title: Self.title(of: draft, findings?.crash), text: draft.text, source: draft.source,
            reporter: draft.reporter ?? actor.name, key: key, createdAt: Date(), commit: found.commit,
            rules: found.declaration)
        task.crash = findings?.crash
        if let crash = findings?.crash, case .person = draft.source { task.source = .crash(signature: crash.signature) }
        for file in draft.files { task.files.append(try await files.keep(file.content, named: file.name)) }
        if let report = draft.crash { task.files.append(try await files.keep(report, named: "crash-report")) }
        task.state = task.rules.planning == .none ? .working : .planning
        task.reason = "it was just added"
        let added = try await index.addTask(task, context: findings?.context, by: actor.name)
        if added.isNew, let outdated = findings?.outdated {
            try await record(
                .answered(reason: outdated.reason), of: added.task.id, state: .answered, reason: outdated.reason,
                by: nil)
        }
        await goOn()
        return (try await index.task(added.task.id) ?? added.task, added.isNew)
    }

    /// The draft with the words of the issue that somebody named; what comes from the forge has them.
    private func withIssue(
        _ draft: TaskDraft, by actor: TaskActor, in repository: WatchedRepository
    ) async throws -> TaskDraft {
        guard let number = draft.issue, draft.source == .person else { return draft }
        let key = TaskDraft.key(ofIssue: number)
        if try await index.task(withKey: key, repository: repository.name) != nil {
            var known = draft
            known.key = key
            return known
        }
        do {
            return TaskDraft(try await issues.issue(number, in: repository.name), adding: draft, by: actor.name)
        } catch let error as ForgeError {
            throw TaskFailure.unusable(
                "issue \(number) of \(repository.name) can't be read: \(TerminalText.name(error.description, limit: 500))"
            )
        }
    }

    /// Counts one more report of a crash that a task is about. A task whose change is in the release that crashed is
    /// taken up again.
    ///
    /// - Returns: The task; nil if the crash is new work.
    private func count(
        _ findings: LookedUpCrash, key: String, isOfPerson: Bool, _ place: CrashPlace
    ) async throws -> TaskRecord? {
        let known = try await index.task(withCrash: findings.crash.signature, repository: place.repository)
        guard let known else { return nil }
        // Who asks again for what was ended without a change wants it to be tried again.
        if isOfPerson, [.refused, .cancelled, .givenUp, .answered].contains(known.state) { return nil }
        let release = findings.crash.release
        let count = (known.crash?.count ?? 0) + 1
        let event = try await index.appendTaskEvent(
            .seenAgain(count: count, release: release), to: known.id, key: key
        ) { $0.crash?.count += 1 }
        if event != nil, case .again(let id) = try await crashes.news(of: findings, after: known, in: place) {
            let reason = "the crash came again in \(release ?? "a release"), which has the change"
            let next: TaskState = known.rules.planning == .none ? .working : .planning
            try await index.appendTaskEvent(
                .reopened(reason: reason), to: id, expecting: [.landed, .released, .delivered]
            ) { task in
                task.reopened += 1
                (task.state, task.reason) = (next, reason)
                (task.change, task.changeLink, task.landedCommit, task.release) = (nil, nil, nil, nil)
            }
        }
        return try await index.task(known.id)
    }

    private func repository(of draft: TaskDraft) async throws -> WatchedRepository {
        if let place = draft.repository {
            return try await repositories.repository(named: repositories.name(of: place))
        }
        let watched = try await index.watchedRepositories().sorted()
        guard let only = watched.first, watched.count == 1 else {
            throw RequestError(
                .unknownRepository,
                watched.isEmpty
                    ? "no repository is watched yet; start `pipectl watch` with one"
                    : "several repositories are watched; name one of \(watched.joined(separator: ", "))")
        }
        return try await repositories.repository(named: only)
    }

    private static func check(_ draft: TaskDraft) throws(TaskFailure) {
        let text = draft.text
        guard draft.crash != nil || draft.issue != nil || !text.allSatisfy(\.isWhitespace) else {
            throw .unusable("say what is to be done, as in `pipectl task add \"the export crashes on empty carts\"`")
        }
        guard text.utf8.count <= TaskDraft.longestText else {
            throw .unusable("the text has \(text.utf8.count) bytes; at most \(TaskDraft.longestText) are taken")
        }
        guard draft.title?.utf8.count ?? 0 <= TaskDraft.longestTitle else {
            throw .unusable("a title takes at most \(TaskDraft.longestTitle) bytes; put the rest into the text")
        }
        guard (draft.key ?? "").utf8.count <= 500, (draft.reporter ?? "").utf8.count <= 200 else {
            throw .unusable("a key takes at most 500 bytes, a reporter's name 200")
        }
        guard draft.crash?.count ?? 0 <= TaskDraft.largestCrash else {
            throw .unusable(
                "a crash report takes at most \(TaskDraft.largestCrash >> 20) MiB; send the part about the crash")
        }
        guard draft.files.count <= TaskDraft.mostFiles,
            draft.files.reduce(0, { $0 + $1.content.count }) <= TaskDraft.largestFiles
        else {
            throw .unusable(
                "a task takes at most \(TaskDraft.mostFiles) files of \(TaskDraft.largestFiles >> 20) MiB together")
        }
        for file in draft.files where !isFileName(file.name) {
            throw .unusable(
                "\"\(TerminalText.name(file.name))\" is no name for a file of a task; use one without folders")
        }
    }

    private static func isFileName(_ name: String) -> Bool {
        (1...200).contains(name.utf8.count) && name != "." && name != ".."
            && name.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7f && $0 != "/" && $0 != "\\" }
    }

    /// One line for lists.
    private static func title(of draft: TaskDraft, _ crash: TaskCrash?) -> String {
        let line = draft.title ?? crash?.title ?? draft.text.split(whereSeparator: \.isNewline).first.map(String.init)
        var title = line ?? "task"
        while title.utf8.count > TaskDraft.longestTitle { title.removeLast() }
        return title
    }

    // MARK: Deciding

    /// Approves the plan with this version.
    ///
    /// - Throws: ``TaskFailure/otherPlan(_:version:)`` if there is a newer one.
    package func approve(
        _ id: TaskID, version: Int, reason: String? = nil, by actor: TaskActor
    ) async throws -> TaskView {
        try actor.requirePerson(to: "approve the plan of")
        let view = try await show(id)
        guard view.plan?.version == version else { throw TaskFailure.otherPlan(id, version: view.plan?.version) }
        try await decide(
            .planApproved(version: version, reason: try Self.words(reason)), of: view, in: [.planWaits],
            wanted: "approved", next: .working, reason: "plan \(version) is approved", by: actor)
        return try await show(id)
    }

    /// Says something to a plan, to an agent that works, or to the change.
    package func remark(_ id: TaskID, _ text: String, by actor: TaskActor) async throws -> TaskView {
        try actor.requirePerson(to: "remark on")
        let view = try await show(id)
        guard let text = try Self.words(text) else { throw TaskFailure.unusable("say something in the remark") }
        let state = view.task.state
        // A change that is in line is left alone; the remark can be made again when it has come back.
        try await decide(
            .remark(text: text), of: view, in: [.planning, .planWaits, .working, .checking, .ready],
            wanted: "remarked on",
            next: state == .planWaits ? .planning : state == .ready ? .working : nil, reason: "there is a remark",
            by: actor)
        return try await show(id)
    }

    /// Refuses the plan or the change. The task ends.
    package func refuse(_ id: TaskID, reason: String?, by actor: TaskActor) async throws -> TaskView {
        try actor.requirePerson(to: "refuse")
        let view = try await show(id)
        let reason = try Self.words(reason)
        let what: TaskEvent.What =
            if view.task.state == .planWaits, let plan = view.plan {
                .planRefused(version: plan.version, reason: reason)
            } else {
                .refused(reason: reason)
            }
        try await decide(
            what, of: view, in: [.planWaits, .ready], wanted: "refused", next: .refused,
            reason: "refused by \(actor.name)" + (reason.map { ": \($0)" } ?? ""), by: actor)
        return try await show(id)
    }

    /// Stops all work on the task. It ends.
    package func cancel(_ id: TaskID, reason: String?, by actor: TaskActor) async throws -> TaskView {
        try actor.requirePerson(to: "cancel")
        let view = try await show(id)
        let reason = try Self.words(reason)
        try await decide(
            .cancelled(reason: reason), of: view, in: [.planning, .planWaits, .working, .checking, .ready],
            wanted: "cancelled", next: .cancelled,
            reason: "cancelled by \(actor.name)" + (reason.map { ": \($0)" } ?? ""), by: actor)
        for run in view.runs where run.state != .ended {
            _ = try await queue.cancel(run.id, reason: "task \(id) was cancelled")
        }
        return try await show(id)
    }

    /// Puts the change that is ready into the merge queue.
    ///
    /// - Parameter commit: The commit that the person looked at; nil: whichever is offered.
    package func land(_ id: TaskID, commit: String? = nil, by actor: TaskActor) async throws -> TaskView {
        try actor.requirePerson(to: "land")
        let view = try await show(id)
        // Without it, a further try between the look and the click would land unseen.
        if let commit, let offered = view.chosen?.commit, offered != commit {
            throw TaskFailure.otherCommit(id, commit: offered)
        }
        try await decide(
            .landingAsked, of: view, in: [.ready], wanted: "landed", next: .landing,
            reason: "it goes into the merge queue", by: actor)
        return try await show(id)
    }

    private func decide(
        _ what: TaskEvent.What, of view: TaskView, in states: Set<TaskState>, wanted: String, next: TaskState?,
        reason: String, by actor: TaskActor
    ) async throws {
        let id = view.task.id
        guard states.contains(view.task.state),
            try await record(what, of: id, in: [view.task.state], state: next, reason: reason, by: actor.name)
        else {
            let state = try await index.task(id)?.state ?? view.task.state
            throw TaskFailure.wrongState(id, state, wanted: wanted)
        }
        await goOn()
    }

    @discardableResult
    private func record(
        _ what: TaskEvent.What, of id: TaskID, in states: Set<TaskState>? = nil, state: TaskState?, reason: String,
        by person: String?
    ) async throws -> Bool {
        let event = try await index.appendTaskEvent(what, to: id, expecting: states, by: person) { task in
            guard let state else { return }
            (task.state, task.reason) = (state, reason)
        }
        return event != nil
    }

    private func goOn() async {
        queue.board.news.tellAll()
        await settle()
    }

    /// What somebody says, if it says anything.
    private static func words(_ text: String?) throws(TaskFailure) -> String? {
        guard let text, !text.allSatisfy(\.isWhitespace) else { return nil }
        guard text.utf8.count <= 16_384 else { throw .unusable("a remark or reason takes at most 16,384 bytes") }
        return text
    }
}
