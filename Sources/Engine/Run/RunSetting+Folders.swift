import Foundation
import Pipeline
import Sandbox
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
        if runSandbox?.user != nil {
            for folder in [shown, values, published] { chmod(folder.string, 0o755) }
        }
    }

    /// What the run and its steps may use.
    ///
    /// - Throws: Why the run's control group can't be made.
    func makeQuota(for plan: Plan) throws -> RunQuota {
        try RunQuota(
            limits: plan.limits.within(runLimits), stepLimits: stepLimits, controlGroups: controlGroups,
            groupName: groupName,
            folders: [workspaceMount?.upper ?? workspace] + (runSandbox == nil ? [] : [home, temporary, published])
                + rooms.map(\.folder))
    }

    /// What the run's control group is called.
    var groupName: String { folder.lastComponent?.string ?? "run" }
}
