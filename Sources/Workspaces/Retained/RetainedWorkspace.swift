public import Results
public import Foundation
public import Pipeline

import Git

/// The workspace of a run that failed, as its last step left it: what a repetition goes on with, and `pipectl open` shows.
///
/// It is never written to again: whoever works with it has a layer above it, or a copy.
public struct RetainedWorkspace: Sendable, Codable {
    /// The name of its folder.
    package var folder: String
    public var run: Int64
    package var repository: String
    public var workflow: String
    /// The tested commit and its tree.
    public var commit: String
    var tree: String
    /// The tree id of the `workflows/` that decided the plan, and what it was built with.
    var definition: String
    package var tools: String
    var parameters: [String: String]
    public var plan: Plan
    public var outcomes: [String: StepStatus]
    /// What every step saw, without what it declares itself.
    var environment: [String: String]
    /// Newest first; those that are not in its own folder belong to a base or to the workspace that it went on with.
    var layers: [Layer]
    /// Folders that sandboxes show beside the run's own: the program, and where the workspace's Git finds its objects.
    var program: [String]
    package var objects: [String]
    /// On disk, of its own folder.
    var bytes: Int
    public var createdAt: Date
    /// The start of the system in which it was made: after a power cut its files may be empty.
    var boot: String

    static let record = "kept.json"

    /// The steps whose results a repetition takes over: they passed, and nothing that they need is run again.
    ///
    /// A gate leaves nothing in the workspace and is asked about again; what runs for what others came to is run again.
    public var carriedSteps: [String] {
        var carried: Set<String> = []
        var settled: Set<String> = []
        // In any order of the plan: as often as something is found that can be settled.
        var isChanged = true
        while isChanged {
            isChanged = false
            for step in plan.steps where !settled.contains(step.name) && step.needs.allSatisfy(settled.contains) {
                settled.insert(step.name)
                isChanged = true
                let isCarried =
                    step.action == .approval
                    || outcomes[step.name] == .passed && step.condition == .onSuccess
                        && step.needs.allSatisfy(carried.contains)
                if isCarried { carried.insert(step.name) }
            }
        }
        return plan.steps.filter { carried.contains($0.name) && $0.action != .approval }.map(\.name)
    }

    /// Why a run can't go on with it, as the end of a sentence; nil if it can.
    package func obstacle(to prepared: PreparedRun, tools: String) -> String? {
        if prepared.definition != definition { return "the workflow definition has changed" }
        if tools != self.tools { return "the toolchain or the machine's packages have changed" }
        if prepared.commit.hex != commit { return "the tested commit has changed" }
        if prepared.parameters != parameters || prepared.plan != plan { return "the plan has changed" }
        if layers.count > RetainedWorkspace.deepest {
            return "it already has \(layers.count) layers; the new run starts a new one"
        }
        return nil
    }

    /// Why a fixer can't begin with it, as the end of a sentence; nil if it can. No step is left out for it, so the files
    /// need only be of the commit.
    func obstacleToFix(_ prepared: PreparedRun) -> String? {
        if prepared.commit.hex != commit { return "the tested commit has changed" }
        return layers.count > RetainedWorkspace.deepest ? "it already has \(layers.count) layers" : nil
    }

    /// Layers of one workspace; overlayfs has 500 at most, and each costs every look-up.
    static let deepest = 60
}
