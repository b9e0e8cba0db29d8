import Results
import Store
import Engine
import Pipeline

extension RunExecutor {
    /// What the run is given of the secrets that its steps name: nothing unless it is trusted.
    func secrets(for prepared: RunPreparation, of run: QueuedRun) async throws -> RunSecrets {
        guard prepared.trust == .merged, run.request.isForAgent != true else { return .withheld }
        guard prepared.plan.steps.contains(where: { !$0.secrets.isEmpty }) else { return .none }
        return try await offThread { [state] in
            SecretStores(state: state).resolve(prepared.plan, repository: run.request.repository)
        }
    }
}
