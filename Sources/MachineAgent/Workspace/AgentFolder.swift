import Foundation
import Sandbox

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// Where an agent keeps its files: mirrors, caches, stored outputs and snapshots, which outlive it, and a folder for its
/// run.
package struct AgentFolder: Sendable {
    package let path: String
    /// A folder that agents on other machines have, too: what one of them was sent, the others need not be sent. Nil for
    /// none.
    package let shared: String?

    package init(path: String, shared: String? = nil) { (self.path, self.shared) = (path, shared) }

    var mirrors: String { "\(shared ?? path)/mirrors" }
    var outputs: String { "\(shared ?? path)/outputs" }
    var kept: KeptOutputs { KeptOutputs(folder: outputs) }
    var caches: String { "\(path)/caches" }
    var runs: String { "\(path)/runs" }
    var users: String { "\(path)/users" }
    var snapshots: String { "\(path)/snapshots" }

    /// Creates the folders, and removes the runs of agents that have ended.
    func prepare() throws {
        let files = FileManager.default
        // Made here, it would be a folder of this machine alone.
        if let shared, !files.fileExists(atPath: shared) {
            throw AgentProblem("the shared folder \(shared) is not there; is its file system mounted?")
        }
        for made in [path, mirrors, outputs, caches, runs, users, snapshots] {
            try files.createDirectory(
                atPath: made, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o711])
        }
        if shared != nil { for folder in [mirrors, outputs] { try checkOwner(of: folder) } }
        for name in (try? files.contentsOfDirectory(atPath: runs)) ?? [] {
            // Who holds the lock is alive. One without the file is just being made.
            guard let lock = FolderLock("\(runs)/\(name)/lock", creates: false, isShared: false) else { continue }
            try? FolderRemoval.remove("\(runs)/\(name)")
            lock.giveBack()
        }
    }

    /// Another user could have put there what this one's runs believe.
    private func checkOwner(of folder: String) throws {
        var info = stat()
        guard stat(folder, &info) == 0, info.st_uid == geteuid() else {
            throw AgentProblem("\(folder) belongs to another user; name a shared folder of your own")
        }
    }

    /// Creates a folder for a run, which is locked as long as this process lives.
    func makeRun() throws -> RunPlaceFolder {
        let name = String(UInt64.random(in: .min ... .max), radix: 36)
        let made = "\(runs)/\(name)"
        guard mkdir(made, 0o711) == 0, let lock = FolderLock("\(made)/lock", creates: true, isShared: false) else {
            throw AgentProblem("a folder for the run could not be made in \(runs): \(String(cString: strerror(errno)))")
        }
        guard mkdir("\(made)/\(name)", 0o711) == 0 else {
            throw AgentProblem("a folder for the run could not be made in \(made): \(String(cString: strerror(errno)))")
        }
        return RunPlaceFolder(path: made, name: name, lock: lock)
    }
}

/// The folder of one run.
struct RunPlaceFolder: Sendable {
    let path: String
    let name: String
    let lock: FolderLock
    var workspace: String { "\(path)/workspace" }
    /// What steps see beside the workspace. Its name is the run's: the control group gets it.
    var place: String { "\(path)/\(name)" }
    /// For files of the agent that no step sees.
    func scratch() -> String { "\(path)/scratch-\(UInt64.random(in: .min ... .max))" }
}

/// A file that a process locks as long as it lives (flock(2)).
final class FolderLock: Sendable {
    private let file: Int32

    /// Nil if another process holds it in a way that excludes this one, or if there is no such file.
    init?(_ path: String, creates: Bool, isShared: Bool) {
        let opened = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | (creates ? O_CREAT : 0), 0o600)
        guard opened >= 0 else { return nil }
        guard flock(opened, (isShared ? LOCK_SH : LOCK_EX) | LOCK_NB) == 0 else {
            close(opened)
            return nil
        }
        file = opened
    }

    deinit { close(file) }

    /// Ends the lock, now at the latest.
    func giveBack() { _ = flock(file, LOCK_UN) }
}

/// Why an agent can't do its work, as a sentence.
struct AgentProblem: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}
