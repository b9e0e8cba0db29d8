import Archive
import AgentWork
import Control
import Git
import Pipeline
import Preparing
import Results
import Tasks
import Watching
import WorkflowPrograms

/// Collects what the prompts of a task's agents say: its history, and what is read from Git and the archive.
struct TaskMaterials: Sendable {
    let history: TaskRecords
    let store: ArchiveStore
    /// Makes the bundle of a run.
    let bundle: @Sendable (BundleRequest) async throws -> String

    /// - Parameter paths: Where the agent finds the task's files and the remarks; nil for a reviewer.
    func material(
        of record: TaskRecord, _ events: [TaskEvent], for run: RunRequest, _ prepared: RunPreparation,
        in repository: WatchedRepository, paths: (files: String, remarks: String)? = nil
    ) async throws -> TaskMaterial {
        var material = TaskMaterial(record, events)
        material.base = material.tries.last { $0.made?.commit == run.head }?.attempt
        material.rules = prepared.program.description.rules ?? []
        if let paths {
            material.remarksFile = paths.remarks
            material.files = record.files.map { "\(paths.files)/\($0.name)" }
        }
        material.context = try await context(of: record)
        try await addWhatGitHas(to: &material, prepared, in: repository)
        await addWhatRunsSay(to: &material, events)
        return material
    }

    private func context(of record: TaskRecord) async throws -> String {
        var parts = [try await history.context(record.id)].compactMap { $0 }
        let run: RunID? =
            switch record.source {
            case .scheduledRun(let run), .redTest(_, let run): run
            case .person, .issue, .crash, .testFlight: nil
            }
        if let run, let text = await bundle(of: run) { parts.append(text) }
        return parts.joined(separator: "\n\n")
    }

    private func bundle(of run: RunID) async -> String? {
        // A run that left the archive has none, and the agent can do without.
        try? await bundle(BundleRequest(run: run, bytes: FixMaterial.earlierBytes, format: .markdown))
    }

    private func addWhatGitHas(
        to material: inout TaskMaterial, _ prepared: RunPreparation, in repository: WatchedRepository
    ) async throws {
        guard let target = OID(hex: prepared.definition.commit) else { return }
        let touched = (material.plan?.files ?? []) + material.tries.compactMap(\.made).flatMap(\.files)
        let made = material.tries.map { $0.made?.commit }
        let (instructions, patches) = try await withRepository(at: repository.store) {
            store -> ([InstructionFile], [String?]) in
            let found = try AgentFiles.find(touching: touched, at: target, in: store)
            let patches = made.map { commit -> String? in
                guard let commit = commit.flatMap(OID.init(hex:)),
                    let base = try? store.mergeBase(target, commit)
                else { return nil }
                return try? store.patch(from: base, to: commit, maximumBytes: FixMaterial.patchBytes)
            }
            return (found, patches)
        }
        material.instructions = instructions
        for (index, patch) in patches.enumerated() { material.tries[index].patch = patch }
    }

    /// Adds the bundles of runs that did not pass, and what reviewers found.
    private func addWhatRunsSay(to material: inout TaskMaterial, _ events: [TaskEvent]) async {
        for index in material.tries.indices {
            let attempt = material.tries[index].attempt
            for case .checked(let run, attempt, let verdict, _) in events.map(\.what)
            where ![.passed, .flaky].contains(verdict) {
                if let review = try? await store.report(run).steps.lazy.compactMap(\.review).first {
                    material.tries[index].findings = review.findings.filter { $0.fate != .withdrawn }
                } else if material.tries[index].bundle == nil {
                    material.tries[index].bundle = await bundle(of: run)
                }
            }
        }
    }
}
