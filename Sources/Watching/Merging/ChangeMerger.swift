import Control
public import Foundation
public import Git

/// Merges changes as they would land: by the installed Git, in a process of its own with limits.
///
/// Where there is no Git that can, libgit2 merges, and ``isGit`` tells.
public struct ChangeMerger: Sendable {
    private enum Means: Sendable {
        case git(MergingGit)
        /// Why Git doesn't do it.
        case libgit2(String)
    }

    /// What one process may use.
    package struct Limits: Sendable {
        package var deadline = Duration.seconds(60)
        /// For one of many questions, asked alone because Git did not answer all of them together.
        var singleDeadline = Duration.seconds(10)
        /// For many questions, asked by several processes: what is not answered by then is no.
        var wholeDeadline = Duration.seconds(300)
        /// Of memory that it asks for; files that it maps don't count. Only Linux heeds it.
        var memoryBytes = 4 << 30
        /// Of one file that it writes.
        package var fileBytes = 1 << 30
        /// Of what it prints: a conflict of some hundred thousand files.
        var outputBytes = 128 << 20
    }

    private let means: Means
    package var limits = Limits()

    /// Merges by Git where it can be found, else by libgit2.
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

    /// A merger that uses libgit2 although there may be a Git.
    public static let libgit2 = ChangeMerger(means: .libgit2("--libgit2 was given"))

    /// Whether the merges are Git's.
    public var isGit: Bool { whyNotGit == nil }

    /// Why libgit2 merges; nil where Git does.
    public var whyNotGit: String? { if case .libgit2(let why) = means { why } else { nil } }

    /// Merges one pair and stores the merged tree in the repository at `store`; of a conflict nothing is stored.
    ///
    /// - Throws: ``MergeFailure`` where Git could not do it within its limits, `GitError` where objects can't be read.
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

    /// Which of the questions about the repository at `objects` are answered with yes; nothing is stored.
    ///
    /// What can't be merged, as where objects are missing, is no.
    ///
    /// - Parameter folder: Where a scratch repository may be made.
    public func confirmed(
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
            // Anew for each: what Git writes for conflicts is given back between them.
            let scratch = try MergeScratch(in: folder, borrowing: objects)
            defer { scratch.remove() }
            let part = Array(left.prefix(200))
            var outcomes: [MergeOutcome] = []
            do { outcomes = try await process.run(part.map(\.pair), in: scratch) } catch let failure as MergeFailure {
                (outcomes, failures) = (failure.outcomes, failures + 1)
                if failure.losesAnswers, part.count > 1 {
                    // Git had answers in its memory that it did not print, so the pair that it ended at is not known.
                    found.formUnion(
                        try await confirmedSingly(part, git, in: (objects, folder), until: end, failures: &failures))
                    left = left.dropFirst(part.count)
                    continue
                }
            }
            for (question, outcome) in zip(part, outcomes) where outcome == .merged(tree: question.tree) {
                found.insert(question)
            }
            // Git ends at a pair that it can't merge; the others are asked again without it.
            left = left.dropFirst(outcomes.count < part.count ? outcomes.count + 1 : part.count)
        }
        return found
    }

    /// Asks each question in a process of its own; one that is not answered in time is no, and costs no other its answer.
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

    /// A Git that fails at so many pairs fails at all.
    private static let mostFailures = 50

    /// Where scratch repositories for the box's store at `store` are.
    static func scratchFolder(_ store: String) -> String { "\(store)/scratch" }
}

/// Why Git did not merge.
public struct MergeFailure: Error, Sendable, CustomStringConvertible {
    /// As the end of a sentence.
    public let reason: String
    /// The merges that were made before.
    var outcomes: [MergeOutcome] = []
    /// Whether Git may have merged more than ``outcomes``: it was ended before it printed all, or printed too much.
    var losesAnswers = false

    public var description: String { "the change could not be merged: \(reason)" }
}
