import Synchronization

/// The nodes of a cluster on which the place of a run was tried.
package final class TriedNodes: Sendable {
    private let state = Mutex<(current: String?, failed: [String])>((nil, []))
    /// After so many nodes the cluster is to blame.
    private static let most = 3

    package init() {}

    /// Those on which it failed: the next allocation avoids them.
    package var failed: [String] { state.withLock { $0.failed } }

    /// Notes on which node the allocation is.
    package func take(_ node: String) { state.withLock { $0.current = node } }

    /// Notes that it failed on that node, if the machine has nodes.
    ///
    /// - Returns: Whether another node is to be tried.
    func fail() -> Bool {
        state.withLock { state in
            guard let node = state.current else { return false }
            state.current = nil
            state.failed.append(node)
            return state.failed.count < TriedNodes.most
        }
    }
}
