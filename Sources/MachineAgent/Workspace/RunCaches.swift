import Foundation
import MachineProtocol
import Sandbox

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

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
            let lockPath = Self.lock(of: name, in: parent)
            let lock = order.writesCaches ? FolderLock(lockPath, creates: true, isShared: false) : nil
            // It counts as used now.
            _ = utimes(lockPath, nil)
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

    private static func lock(of name: String, in parent: String) -> String { "\(parent)/.\(name).lock" }

    /// Removes the caches of a machine that no run has used for `lifetime` seconds. Their locks stay: another run may
    /// have opened one.
    static func removeUnused(in caches: String, for lifetime: Double) {
        let files = FileManager.default
        for repository in (try? files.contentsOfDirectory(atPath: caches)) ?? [] {
            let parent = "\(caches)/\(repository)"
            for name in (try? files.contentsOfDirectory(atPath: parent)) ?? [] where !name.hasPrefix(".") {
                let (path, lockPath) = ("\(parent)/\(name)", lock(of: name, in: parent))
                let used = [path, lockPath].compactMap {
                    (try? files.attributesOfItem(atPath: $0))?[.modificationDate] as? Date
                }.max()
                guard let used, used.timeIntervalSinceNow < -lifetime,
                    let lock = FolderLock(lockPath, creates: true, isShared: false)
                else { continue }
                try? FolderRemoval.remove(path)
                lock.giveBack()
            }
        }
    }
}
