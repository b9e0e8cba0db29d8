import Engine
import Pipeline

extension RunExecutor {
    /// Finds out what earlier runs have proved.
    var proofSearch: ProofSearch {
        ProofSearch(
            index: index, store: store, options: options, sandboxing: sandboxing, toolchain: programs.toolchain,
            log: log)
    }
}
