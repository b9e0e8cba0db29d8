import Foundation
import MachineProtocol
import Sandbox

/// The caches of one run on the agent's machine. One run at a time writes to a cache, while others read it.
struct RunCaches: Sendable {
    private(set) var mounts: [String: SandboxMount] = [:]
    private var locks: [FolderLock] = []

    /// - Parameter user: Who owns what the run may write.
    init(_ order: WorkspaceOrder, user: StepUser?, in folder: AgentFolder) throws {
        for name in Set(order.caches).sorted() {
            guard AttemptOrder.isName(name) else {
                throw MachineProblem.other("a cache has a name that is no name of a file")
            }
            let parent = "\(folder.caches)/\(order.repository)"
            let path = "\(parent)/\(name)"
            try FileManager.default.createDirectory(atPath: parent, withIntermediateDirectories: true)
            let lock =
                order.writesCaches ? FolderLock("\(parent)/.\(name).lock", creates: true, isShared: false) : nil
            if let lock {
                locks.append(lock)
                try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
                if let user { try Ownership.give(path, to: user) }
            }
            guard FileManager.default.fileExists(atPath: path) else { continue }
            mounts[name] = SandboxMount(
                path, at: Sandbox.hasMounts ? "\(Sandbox.Place.caches)/\(name)" : path, lock == nil ? .read : .write)
        }
    }
}
