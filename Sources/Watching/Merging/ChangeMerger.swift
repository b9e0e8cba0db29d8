import Control
public import Foundation
public import Git
package import LandedChanges

/// Merges changes as they would land: with the installed Git, in a process of its own with limits.
///
/// Without a suitable Git libgit2 merges, and ``isGit`` is false.
public struct ChangeMerger: Sendable {
    private enum Means: Sendable {
        case git(MergingGit)
        /// Why Git is not used.
        case libgit2(String)
    }

    /// Limits of one process.
    package struct Limits: Sendable {
        package var deadline = Duration.seconds(60)
        /// The time limit for one question that is asked alone, since Git did not answer all of them together.
        var singleDeadline = Duration.seconds(10)
        /// The time limit for many questions with several processes. Questions without an answer by then count as "no".
        var wholeDeadline = Duration.seconds(300)
        /// Bytes of memory that it may allocate; mapped files don't count. Only Linux enforces this.
        var memoryBytes = 4 << 30
        /// Bytes of one file that it may write.
        package var fileBytes = 1 << 30
        /// Bytes of output that are read: enough for a conflict of some hundred thousand files.
        var outputBytes = 128 << 20
    }

    private let means: Means
    package var limits = Limits()

    /// A merger that uses Git if a suitable one is found, otherwise libgit2.
    public static func find(
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) async throws -> ChangeMerger {
        do { return ChangeMerger(git: try await MergingGit.find(environment: environment)) } catch let error
            as RequestError
        {
            return ChangeMerger(means: .libgit2(error.description))
        }
    }

    package init(git: MergingGit) { means = .git(git) }

    private init(means: Means) { self.means = means }

    /// A merger that uses libgit2 even if there is a Git.
    public static let libgit2 = ChangeMerger(means: .libgit2("--libgit2 was given"))

    /// Whether Git merges.
    public var isGit: Bool { whyNotGit == nil }

    /// Why libgit2 merges; nil if Git does.
    public var whyNotGit: String? { if case .libgit2(let why) = means { why } else { nil } }

    /// Merges one pair and stores the merged tree in the repository at `store`. A conflict stores nothing.
    ///
    /// - Throws: ``MergeFailure`` if Git failed or reached a limit, `GitError` if objects can't be read.
    public func merge(_ pair: MergePair, storingIn store: String) async throws -> MergeOutcome {
        guard case .git(let git) = means else {
            return try await withRepository(at: store) { try $0.merge(pair.head, into: pair.target) }
        }
        let scratch = try MergeScratch(in: Self.scratchFolder(store), borrowing: store)
        defer { scratch.remove() }
        guard let outcome = try await MergeTreeProcess(git: git, limits: limits).run([pair], in: scratch).first else {
            throw MergeFailure(reason: "git merge-tree printed no result")
        }
        if case .merged(let tree) = outcome {
            let path = scratch.path
            try await withRepository(at: store) { try $0.adopt(tree: tree, from: Repository(opening: path)) }
        }
        return outcome
    }

    /// Merges pairs in turn and stores nothing. There may be fewer outcomes than pairs: then the next pair can't be merged.
    ///
    /// Only Git does it; libgit2 would have to store each tree. Without Git there are no outcomes.
    package func outcomes(of pairs: [MergePair], objects: String) async throws -> [MergeOutcome] {
        guard case .git(let git) = means, !pairs.isEmpty else { return [] }
        let scratch = try MergeScratch(in: Self.scratchFolder(objects), borrowing: objects)
        defer { scratch.remove() }
        do {
            return try await MergeTreeProcess(git: git, limits: limits).run(pairs, in: scratch)
        } catch let failure as MergeFailure {
            return failure.outcomes
        }
    }

    /// The questions about the repository at `objects` whose answer is yes; stores nothing.
    ///
    /// A pair that can't be merged, for example because objects are missing, gives "no".
    ///
    /// - Parameter folder: A folder for a scratch repository.
    package func confirmed(
        _ questions: [LandingQuestion], objects: String, scratch folder: String
    ) async throws -> Set<LandingQuestion> {
        guard !questions.isEmpty else { return [] }
        guard case .git(let git) = means else {
            return try await withRepository(at: objects) { repository in
                Set(questions.filter { (try? repository.confirms($0)) ?? false })
            }
        }
        let process = MergeTreeProcess(git: git, limits: limits)
        var found: Set<LandingQuestion> = []
        var left = questions[...]
        var failures = 0
        let end = ContinuousClock.now + limits.wholeDeadline
        while !left.isEmpty, failures < Self.mostFailures, ContinuousClock.now < end {
            // A new one for each process, so that objects that Git writes for conflicts are removed in between.
            let scratch = try MergeScratch(in: folder, borrowing: objects)
            defer { scratch.remove() }
            let part = Array(left.prefix(200))
            var outcomes: [MergeOutcome] = []
            do { outcomes = try await process.run(part.map(\.pair), in: scratch) } catch let failure as MergeFailure {
                (outcomes, failures) = (failure.outcomes, failures + 1)
                if failure.losesAnswers, part.count > 1 {
                    // Git had answers in memory that it did not print, so the pair at which it ended is unknown.
                    found.formUnion(
                        try await confirmedSingly(part, git, in: (objects, folder), until: end, failures: &failures))
                    left = left.dropFirst(part.count)
                    continue
                }
            }
            for (question, outcome) in zip(part, outcomes) where outcome == .merged(tree: question.tree) {
                found.insert(question)
            }
            // Git ends at a pair that it can't merge; ask about the others again without it.
            left = left.dropFirst(outcomes.count < part.count ? outcomes.count + 1 : part.count)
        }
        return found
    }

    /// Asks each question in a process of its own. One without an answer in time counts as "no" and does not affect
    /// others.
    private func confirmedSingly(
        _ questions: [LandingQuestion], _ git: MergingGit, in places: (objects: String, scratch: String),
        until end: ContinuousClock.Instant, failures: inout Int
    ) async throws -> Set<LandingQuestion> {
        var found: Set<LandingQuestion> = []
        for question in questions {
            let rest = end - ContinuousClock.now
            if failures >= Self.mostFailures || rest <= .zero { break }
            var own = limits
            own.deadline = min(limits.deadline, limits.singleDeadline, rest)
            let scratch = try MergeScratch(in: places.scratch, borrowing: places.objects)
            defer { scratch.remove() }
            do {
                let outcomes = try await MergeTreeProcess(git: git, limits: own).run([question.pair], in: scratch)
                if outcomes.first == .merged(tree: question.tree) { found.insert(question) }
            } catch is MergeFailure { failures += 1 }
        }
        return found
    }

    /// After this many failures Git itself is considered broken.
    private static let mostFailures = 50

    /// The folder for scratch repositories of the daemon's store at `store`.
    package static func scratchFolder(_ store: String) -> String { "\(store)/scratch" }
}

/// Why Git did not merge.
public struct MergeFailure: Error, Sendable, CustomStringConvertible {
    /// The end of a sentence.
    public let reason: String
    /// The merges that were completed before.
    var outcomes: [MergeOutcome] = []
    /// Whether Git may have made more merges than ``outcomes``: it was killed before it printed all, or printed too
    /// much.
    var losesAnswers = false

    public var description: String { "the change could not be merged: \(reason)" }
}
