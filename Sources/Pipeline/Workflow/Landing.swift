/// How changes land in a branch: the merge queue tests each one as merged on top of those before it, and lands only
/// what passed.
///
/// ```swift
/// @main struct Workflows: WorkflowSet {
///     static let workflows = [test, release]
///     static let landing = Landing(into: "main", requires: [test], method: .squash)
/// }
/// ```
///
/// `pipectl land CHANGE` puts a change into the queue. The declaration is read from the target branch, so a change can't
/// weaken the rules by which it lands.
public struct Landing: Sendable {
    /// The rules as the daemon reads them.
    public internal(set) var declaration: LandingDeclaration

    /// - Parameters:
    ///   - branch: The name of the target branch.
    ///   - workflows: The workflows that must pass, from the list of the ``WorkflowSet``.
    ///   - method: How a change becomes part of the branch.
    public init(into branch: String, requires workflows: [Workflow], method: LandingMethod = .squash) {
        declaration = LandingDeclaration(
            branch: branch, workflows: workflows.map(\.declaration.name), method: method)
    }

    /// Sets how many changes one run tests together, from 1 to 64. Default: 4.
    ///
    /// Changes of a batch land together. A batch that fails is split until the change is found that makes it fail. Large
    /// batches save runs where few changes fail.
    public func batches(of changes: Int) -> Landing { with { $0.batchSize = changes } }

    /// Sets how many batches are tested at a time, each on top of those before it, from 1 to 32. Default: 2.
    ///
    /// A batch that is tested on top of one that fails is formed and tested again.
    public func speculates(depth batches: Int) -> Landing { with { $0.depth = batches } }

    /// Sets how often a commit is tested before a verdict "flaky" counts as failed, from 1 to 10. Default: 2.
    public func attempts(_ count: Int) -> Landing { with { $0.attempts = count } }

    /// Sets who moves the branch. Default: ``LandingMerger/push``.
    ///
    /// With ``LandingMerger/forge``, each change is tested alone on top of those before it, whatever ``batches(of:)``
    /// says, and changes need a number at the connected forge.
    public func merged(by merger: LandingMerger) -> Landing { with { $0.merger = merger } }

    /// Sets the label that puts a change in line at the connected forge. Default: none.
    ///
    /// Taking the label away takes the change out, if it is in line because of the label.
    public func label(_ name: String) -> Landing { with { $0.label = name } }

    private func with(_ change: (inout LandingDeclaration) -> Void) -> Landing {
        var copy = self
        change(&copy.declaration)
        return copy
    }
}

/// How a change becomes part of its target branch.
public enum LandingMethod: String, Sendable, Codable, CaseIterable {
    /// One commit with the whole change, by the author of its newest commit.
    case squash
    /// A merge commit, with the branch's tip as its first parent and the change's head as its second one.
    case merge
    /// The change's own commits, repeated on top of the branch.
    case rebase
}

/// Who moves a branch to what passed.
public enum LandingMerger: String, Sendable, Codable, CaseIterable {
    /// The daemon, with `git push`.
    case push
    /// The connected forge, which merges the change: for branches to which nobody may push.
    case forge
}

/// A ``Landing`` as the daemon reads it.
public struct LandingDeclaration: Sendable, Equatable, Codable {
    /// The name of the target branch.
    public var branch: String
    /// The names of the workflows that must pass.
    public var workflows: [String]
    /// How a change becomes part of the branch.
    public var method: LandingMethod
    /// Changes that one run tests together.
    public var batchSize = 4
    /// Batches that are tested at a time.
    public var depth = 2
    /// How often a commit is tested before a verdict "flaky" counts as failed.
    public var attempts = 2
    /// Who moves the branch.
    public var merger = LandingMerger.push
    /// The label that puts a change in line; nil: none does.
    public var label: String?

    /// A rule with the standard size, number and attempts of batches.
    public init(branch: String, workflows: [String], method: LandingMethod) {
        self.branch = branch
        self.workflows = workflows
        self.method = method
    }

    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        branch = try values.decode(String.self, forKey: .branch)
        workflows = try values.decode([String].self, forKey: .workflows)
        method = try values.decode(LandingMethod.self, forKey: .method)
        batchSize = try values.decode(Int.self, forKey: .batchSize)
        depth = try values.decode(Int.self, forKey: .depth)
        attempts = try values.decode(Int.self, forKey: .attempts)
        // Programs that were compiled with an older library don't have these.
        merger = try values.decodeIfPresent(LandingMerger.self, forKey: .merger) ?? .push
        label = try values.decodeIfPresent(String.self, forKey: .label)
    }
}

/// What ``WorkflowSet/landing`` may be: one ``Landing`` or a list of them.
public protocol LandingDeclaring: Sendable {
    /// The rules as the daemon reads them.
    var declarations: [LandingDeclaration] { get }
}

extension Landing: LandingDeclaring {
    /// This rule alone.
    public var declarations: [LandingDeclaration] { [declaration] }
}

/// A list of ``Landing``s, one for each branch.
extension Array: LandingDeclaring where Element == Landing {
    /// The rules of all of them.
    public var declarations: [LandingDeclaration] { map(\.declaration) }
}
