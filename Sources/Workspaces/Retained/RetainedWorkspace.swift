import Layers
public import Results
public import Foundation
public import Pipeline

import Git

/// The workspace of a failed run as its last step left it: `rerun --failed` starts from it, and `pipectl open` shows
/// it.
///
/// It is never written to again: a run that uses it writes to a layer above it, or to a copy.
public struct RetainedWorkspace: Sendable, Codable {
    /// The name of its folder.
    package var folder: String
    /// The failed run that left it.
    public var run: Int64
    /// The watched repository's name.
    package var repository: String
    /// The workflow's name.
    public var workflow: String
    /// The tested commit and its tree.
    public var commit: String
    var tree: String
    /// The tree id of the `workflows/` that decided the plan, and the tools that it was built with.
    var definition: String
    package var tools: String
    var parameters: [String: String]
    /// The plan of that run.
    public var plan: Plan
    /// The status of each step of that run, by name.
    public var outcomes: [String: StepStatus]
    /// The variables that every step sees, without those that the step declares.
    var environment: [String: String]
    /// Newest first. Those outside its own folder belong to a snapshot or to the workspace that its run started from.
    var layers: [Layer]
    /// Folders that sandboxes show beside the run's own: the program, and where the workspace's Git finds its objects.
    var program: [String]
    package var objects: [String]
    /// Bytes on disk of its own folder.
    var bytes: Int
    /// When it was retained.
    public var createdAt: Date
    /// The start of the system in which it was made. After a power cut its files may be empty.
    var boot: String

    static let record = "kept.json"

    /// The steps whose results are taken over: they passed, and so did every step that they need.
    ///
    /// An approval is asked for again, and a step that runs because of the result of others runs again.
    public var carriedSteps: [String] {
        var carried: Set<String> = []
        var settled: Set<String> = []
        // The plan may have any order, so this repeats until nothing more can be decided.
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

    /// Why a run can't start from it, as the end of a sentence; nil if it can.
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

    /// Why a fixer can't start from it, as the end of a sentence; nil if it can. A fixer takes over no results, so only
    /// the commit must be the same.
    func obstacleToFix(_ prepared: PreparedRun) -> String? {
        if prepared.commit.hex != commit { return "the tested commit has changed" }
        return layers.count > RetainedWorkspace.deepest ? "it already has \(layers.count) layers" : nil
    }

    /// The most layers of one workspace. overlayfs allows 500, but each of them makes every look-up slower.
    static let deepest = 60
}
