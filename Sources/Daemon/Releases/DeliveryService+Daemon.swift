import Archive
import Delivery
import Preparing
import Results
import Running
import StateFiles
import Store
import Watching

extension DeliveryService {
    /// The deliveries of this daemon.
    init(_ state: OpenState, _ repositories: KnownRepositories) {
        let store = state.archive
        self.init(
            index: state.index, folders: ReleaseFolders(state.folder.releases),
            sources: RepositoryReleaseSources(repositories: repositories, index: state.index),
            artifact: { store.artifact($0) },
            publishers: { _, _, _ in throw DeliveryProblem(.invalid, "no destinations yet") })
    }
}
