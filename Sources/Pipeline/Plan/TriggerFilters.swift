/// One way in which triggers limit what starts a run: everything that pipectl knows of it.
///
/// A new filter is a field and a parameter of ``Trigger``, and an entry in ``all``. If it must know something that
/// ``TriggerFacts`` has not, that is added there.
package struct TriggerFilter: Sendable {
    /// What a filter must know. Those that need least are asked first.
    package enum Need: Int, Sendable, CaseIterable {
        /// The name of the branch or tag.
        case ref
        /// What the connected forge says about the change.
        case forge
        /// Something of the commits, for which the repository is read.
        case commit
    }

    /// Tells filters apart in what is stored.
    package let name: String
    /// The fields of ``Trigger`` that it is made of.
    package let fields: [String]
    package let need: Need
    /// What `plan` says of it, in brackets after the trigger; empty if the trigger does not use it.
    package let words: @Sendable (Trigger) -> [String]
    /// What is wrong with its values.
    package let problems: @Sendable (Trigger) -> [TriggerProblem]
    /// Why a trigger does not take what was pushed, as a sentence about the workflow without its subject.
    fileprivate let objection: @Sendable (Trigger, TriggerFacts) -> String?
}

extension TriggerFilter {
    /// All filters, in the order in which `plan` names them.
    package static let all = [branches, paths, messages, ignoredMessages, drafts, labels]

    package static let branches = TriggerFilter(
        name: "branches", fields: ["branches"], need: .ref,
        // `plan` names the branches with the event.
        words: { _ in [] },
        problems: { trigger in
            guard trigger.branches.isEmpty, trigger.event != .manual else { return globProblems(trigger.branches) }
            return [
                TriggerProblem(
                    "trigger", "its \(trigger.event) trigger names no branch; for example, write into: \"main\"")
            ]
        },
        objection: { trigger, facts in
            if trigger.matches(branch: facts.branch) { return nil }
            let names = listed(trigger.branches)
            switch trigger.event {
            case .pullRequest: return "starts for changes only into \(names)"
            case .tag: return "starts for tags only if they match \(names)"
            case .merge, .push, .schedule, .manual: return "starts for pushes only to a branch that matches \(names)"
            }
        })

    package static let paths = TriggerFilter(
        name: "paths", fields: ["paths", "ignoredPaths"], need: .commit,
        words: { trigger in
            (trigger.paths.isEmpty ? [] : ["only \(trigger.paths.joined(separator: ", "))"])
                + (trigger.ignoredPaths.isEmpty ? [] : ["not \(trigger.ignoredPaths.joined(separator: ", "))"])
        },
        problems: { globProblems($0.paths + $0.ignoredPaths) },
        objection: { trigger, facts in
            if trigger.paths.isEmpty && trigger.ignoredPaths.isEmpty { return nil }
            guard let changed = facts.paths() else { return nil }
            let wanted = trigger.paths.compactMap { try? Glob($0) }
            let ignored = trigger.ignoredPaths.compactMap { try? Glob($0) }
            let found = wanted.isEmpty ? changed : changed.filter { path in wanted.contains { $0.matches(path) } }
            if found.contains(where: { path in !ignored.contains { $0.matches(path) } }) { return nil }
            return found.isEmpty && !wanted.isEmpty
                ? "starts only for changed files that match \(listed(trigger.paths))"
                : "ignores changed files that match \(listed(trigger.ignoredPaths))"
        })

    package static let messages = TriggerFilter(
        name: "messages", fields: ["messages"], need: .commit,
        words: { $0.messages.isEmpty ? [] : ["only messages with \(quoted($0.messages))"] },
        problems: { patternProblems($0.messages) },
        objection: { trigger, facts in
            guard !trigger.messages.isEmpty, let message = facts.message() else { return nil }
            if trigger.messages.contains(where: { matches($0, message) }) { return nil }
            return "starts only for commits whose message has \(listed(trigger.messages))"
        })

    package static let ignoredMessages = TriggerFilter(
        name: "ignoredMessages", fields: ["ignoredMessages"], need: .commit,
        words: { $0.ignoredMessages.isEmpty ? [] : ["no messages with \(quoted($0.ignoredMessages))"] },
        problems: { patternProblems($0.ignoredMessages) },
        objection: { trigger, facts in
            guard !trigger.ignoredMessages.isEmpty, let message = facts.message(),
                let ignored = trigger.ignoredMessages.first(where: { matches($0, message) })
            else { return nil }
            return "ignores commits whose message has \"\(ignored)\""
        })

    package static let drafts = TriggerFilter(
        name: "drafts", fields: ["drafts"], need: .forge,
        words: { $0.drafts == .ignored ? ["no drafts"] : [] },
        problems: { _ in [] },
        objection: { trigger, facts in trigger.drafts == .ignored && facts.isDraft ? "ignores drafts" : nil })

    package static let labels = TriggerFilter(
        name: "labels", fields: ["labels"], need: .forge,
        words: { $0.labels.isEmpty ? [] : ["only with label \(quoted($0.labels))"] },
        problems: { trigger in
            guard trigger.labels.contains("") else { return [] }
            return [TriggerProblem("trigger", "a label of its pullRequest trigger is empty; leave it out")]
        },
        objection: { trigger, facts in
            if trigger.labels.isEmpty || trigger.labels.contains(where: facts.labels.contains) { return nil }
            return "starts only for changes with the label \(listed(trigger.labels))"
        })

    /// The filters in the order in which they are asked.
    fileprivate static let byNeed = Need.allCases.flatMap { need in all.filter { $0.need == need } }

    // MARK: What filters have in common

    private static func globProblems(_ globs: [String]) -> [TriggerProblem] {
        globs.compactMap { glob -> TriggerProblem? in
            do throws(GlobProblem) {
                _ = try Glob(glob)
                return nil
            } catch { return TriggerProblem("glob", error.description) }
        }
    }

    private static func patternProblems(_ patterns: [String]) -> [TriggerProblem] {
        patterns.compactMap { pattern -> TriggerProblem? in
            do throws(MessagePatternProblem) {
                _ = try MessagePattern(pattern)
                return nil
            } catch { return TriggerProblem("message", error.description) }
        }
    }

    private static func matches(_ pattern: String, _ message: String) -> Bool {
        (try? MessagePattern(pattern))?.matches(message) ?? false
    }

    private static func quoted(_ texts: [String]) -> String { texts.map { "\"\($0)\"" }.joined(separator: ", ") }

    /// `"a" or "b"`; of many only the first.
    private static func listed(_ texts: [String]) -> String {
        let most = 5
        let first = texts.prefix(most).map { "\"\($0)\"" }
        let rest = texts.count > most ? ["\(texts.count - most) more"] : []
        return (first + rest).joined(separator: " or ")
    }
}

/// What the filters of triggers ask about a push. Nothing of the commits is read before a filter asks for it.
package struct TriggerFacts {
    /// The name of the branch or tag that was pushed; of a change's target.
    package var branch: String
    /// Whether the change is a draft at the connected forge.
    package var isDraft: Bool
    /// The change's labels at the connected forge.
    package var labels: [String]
    /// The changed paths. Nil if they can't be determined: then every filter lets the push through.
    package var paths: () -> [String]?
    /// The newest commit's message. Nil if it can't be read: then every filter lets the push through.
    package var message: () -> String?

    package init(
        branch: String, isDraft: Bool = false, labels: [String] = [], paths: @escaping () -> [String]? = { nil },
        message: @escaping () -> String? = { nil }
    ) {
        self.branch = branch
        self.isDraft = isDraft
        self.labels = labels
        self.paths = paths
        self.message = message
    }
}

/// A value of a filter that can't be used.
package struct TriggerProblem: Sendable, Equatable {
    /// The rule that it breaks, as in the findings about a plan.
    package var rule: String
    package var message: String

    init(_ rule: String, _ message: String) { (self.rule, self.message) = (rule, message) }
}

/// Why a trigger does not take what was pushed.
package struct TriggerObjection: Sendable, Equatable {
    /// ``TriggerFilter/name``.
    package var filter: String
    /// A sentence about the workflow without its subject.
    package var why: String

    package init(filter: String, why: String) { (self.filter, self.why) = (filter, why) }

    /// Whether more filters let the push through before this one than before another one did not.
    package func isNearer(than other: TriggerObjection) -> Bool { place > other.place }

    private var place: Int { TriggerFilter.byNeed.firstIndex { $0.name == filter } ?? 0 }
}

extension Trigger {
    /// What is wrong with its filters.
    package var problems: [TriggerProblem] { TriggerFilter.all.flatMap { $0.problems(self) } }

    /// What it is limited to beside its branches.
    package var filterWords: [String] { TriggerFilter.all.flatMap { $0.words(self) } }

    /// Whether one of its filters asks about commits.
    package var asksAboutCommits: Bool {
        TriggerFilter.all.contains { $0.need == .commit && !$0.words(self).isEmpty }
    }

    /// The first filter that does not let a push of its event through; nil if it starts a run.
    package func objection(to facts: TriggerFacts) -> TriggerObjection? {
        for filter in TriggerFilter.byNeed {
            if let why = filter.objection(self, facts) { return TriggerObjection(filter: filter.name, why: why) }
        }
        return nil
    }

    /// Whether the trigger's ``branches`` match this branch (or tag) name.
    public func matches(branch: String) -> Bool {
        branches.contains { pattern in (try? Glob(pattern))?.matches(branch) ?? false }
    }
}
