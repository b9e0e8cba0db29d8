import Foundation
import Pipeline
import SystemPackage

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

extension RunSetting {
    /// Makes the folders that every run has and those that the plan needs; nil for a plan that is not known yet.
    func makeFolders(for plan: Plan?) throws {
        let steps = plan?.steps ?? []
        for folder in [logs, shown, values, published]
            + (steps.contains { !$0.testResults.isEmpty || $0.findings != nil } ? [results] : [])
            + (steps.contains { !$0.artifacts.isEmpty || !$0.outputs.isEmpty } ? [artifacts] : [])
        {
            guard mkdir(folder.string, 0o755) == 0 || errno == EEXIST else { throw Errno(rawValue: errno) }
        }
        // Steps reach them through their own mounts only; as another user they need this to read what is in them.
        if enclosure?.user != nil {
            for folder in [shown, values, published] { chmod(folder.string, 0o755) }
        }
    }

    /// Empties the folder of a run that has ended, so that it can be another run's: a folder that is there costs a disk a
    /// tenth of a new one.
    ///
    /// Of what the run's steps could write to nothing stays. Those folders stay that only the box writes to, and the names
    /// of who the steps were, which the next run replaces by its own. Nothing of the run may be alive.
    /// - Throws: `Errno`.
    package static func empty(folder: String) throws {
        let shown = shown(in: folder)
        try FolderRemoval.empty(folder, keeping: ["logs", "shown"])
        try FolderRemoval.empty("\(folder)/logs")
        try FolderRemoval.empty(shown, keeping: ["values", "passwd", "group"])
        try FolderRemoval.empty(values(in: folder))
    }

    /// What the run's control group is called.
    var groupName: String { folder.lastComponent?.string ?? "run" }
}
