import Archive
import Engine
import Pipeline

extension RunExecutor {
    /// What earlier runs have proved of this one.
    func proofs(for prepared: RunPreparation, of run: QueuedRun, in repository: WatchedRepository) async -> RunProofs {
        await ProofSearch(
            index: index, store: store, options: options, sandboxing: sandboxing, toolchain: programs.toolchain,
            log: log
        ).proofs(for: prepared, of: run, in: repository)
    }
}
