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
    /// Creates the folders that every run has and those that the plan needs; nil for a plan that is not known yet.
    func makeFolders(for plan: Plan?) throws {
        let steps = plan?.steps ?? []
        for folder in [logs, shown, values, published]
            + (steps.contains { !$0.testResults.isEmpty || $0.findings != nil } ? [results] : [])
            + (steps.contains { !$0.artifacts.isEmpty || !$0.outputs.isEmpty } ? [artifacts] : [])
        {
            guard mkdir(folder.string, 0o755) == 0 || errno == EEXIST else { throw Errno(rawValue: errno) }
        }
        // Steps reach these folders only through their mounts; if they run as another user, they need this permission
        // to read.
        if runSandbox?.user != nil {
            for folder in [shown, values, published] { chmod(folder.string, 0o755) }
        }
    }

    /// Creates the quota of the run, with its control group.
    ///
    /// - Throws: Why the control group can't be created.
    func makeQuota(for plan: Plan) throws -> RunQuota {
        try RunQuota(
            limits: plan.limits.within(runLimits), stepLimits: stepLimits, controlGroups: controlGroups,
            groupName: groupName,
            folders: [workspaceMount?.upper ?? workspace] + (runSandbox == nil ? [] : [home, temporary, published])
                + rooms.map(\.folder))
    }

    /// The name of the run's control group.
    var groupName: String { folder.lastComponent?.string ?? "run" }
}
