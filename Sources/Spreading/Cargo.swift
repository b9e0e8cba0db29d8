import Engine
import Foundation
import Masking
import Pipeline
import Results
import Sandbox
import Synchronization
import SystemPackage

/// What the steps of a run hand to each other: the values that they publish, and the files at the paths of their
/// outputs. It is kept on the daemon's machine until the run has ended.
///
/// Its calls block, but for ``note(_:of:)``.
final class Cargo: Sendable {
    let plan: Plan
    private let folder: FilePath
    private let state = Mutex(State())
    /// One step's outputs are packed at a time, and each once.
    private let packing = Mutex<Void>(())

    private struct State {
        /// By step; nil for a step that left nothing.
        var outputs: [String: StoredOutputs?] = [:]
        var values: [String: FilePath] = [:]
    }

    init(plan: Plan, folder: FilePath) { (self.plan, self.folder) = (plan, folder) }

    func makeFolder() throws {
        try FileManager.default.createDirectory(
            atPath: folder.string, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    }

    func removeFolder() { try? FolderRemoval.remove(folder.string) }

    private func path() -> FilePath { folder.appending(".\(UInt64.random(in: .min ... .max))") }

    // MARK: Values

    /// Keeps a copy of a value.
    func keep(value name: String, _ file: FilePath) throws {
        let copy = path()
        try FileManager.default.copyItem(atPath: file.string, toPath: copy.string)
        state.withLock { $0.values[name] = copy }
    }

    var values: [String: FilePath] { state.withLock { $0.values } }

    /// Calls `body` with a copy of a file, which it may move.
    func withCopy(of file: FilePath, _ body: (FilePath) throws -> Void) throws {
        let copy = path()
        defer { try? FileManager.default.removeItem(atPath: copy.string) }
        try FileManager.default.copyItem(atPath: file.string, toPath: copy.string)
        try body(copy)
    }

    // MARK: Outputs

    func note(_ outputs: StoredOutputs?, of step: String) { state.withLock { $0.outputs[step] = .some(outputs) } }

    /// The steps that a step needs and that may have left something, each after those that it needs itself.
    func needs(of step: PlannedStep) -> [PlannedStep] {
        let steps = Dictionary(plan.steps.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        var (found, seen): ([PlannedStep], Set<String>) = ([], [step.name])
        // The stack is explicit, because a plan may be a chain of thousands. A step is seen when its needs are put on it.
        var stack = step.needs
        while let name = stack.last {
            guard let next = steps[name] else {
                stack.removeLast()
                continue
            }
            if seen.insert(name).inserted {
                stack += next.needs.filter { !seen.contains($0) }
                continue
            }
            stack.removeLast()
            if !next.outputs.isEmpty, !found.contains(where: { $0.name == name }) { found.append(next) }
        }
        return found
    }

    /// The outputs of a step that has ended; nil if it left nothing.
    ///
    /// - Parameter own: The run's own machine, where it ran if nobody has noted them.
    func outputs(of step: PlannedStep, at own: any OpenPlace, _ rules: OutputRules) throws -> StoredOutputs? {
        try packing.withLock { _ in
            if let known = state.withLock({ $0.outputs[step.name] }) { return known }
            let made = try pack(step, at: own, rules)
            note(made, of: step.name)
            return made
        }
    }

    /// Packs what is at the output paths of a step.
    ///
    /// - Returns: Nil if nothing is there.
    /// - Throws: `StepSiteProblem` if the pack would not have all of it.
    func pack(_ step: PlannedStep, at place: any OpenPlace, _ rules: OutputRules) throws -> StoredOutputs? {
        var limits = rules.limits
        limits.count = max(limits.count, 200_000)
        let files = WorkspaceFiles(source: place.files(.workspace, of: step), limits: limits, findsLinks: true)
        let search = files.matching(step.outputs.compactMap { try? Glob($0) })
        func problem(_ reason: String, isOfMachine: Bool) -> StepSiteProblem {
            StepSiteProblem(
                "the outputs of \"\(step.name)\" can't be brought to another machine: \(reason)",
                isOfMachine: isOfMachine)
        }
        if let gap = search.gap { throw problem("\(gap)", isOfMachine: gap.machineError != nil) }
        if let reason = search.problems.first { throw problem(reason, isOfMachine: false) }
        if search.matches.isEmpty, search.emptyFolders.isEmpty { return nil }
        let file = path()
        do {
            let made = try OutputPack.write(search, of: files, to: file, masker: rules.masker)
            return StoredOutputs(path: file.string, sha256: made.sha256)
        } catch {
            try? FileManager.default.removeItem(atPath: file.string)
            let file = error as? WorkspaceFileProblem
            throw problem("\(error)", isOfMachine: file.map { $0.machineError != nil } ?? true)
        }
    }
}
