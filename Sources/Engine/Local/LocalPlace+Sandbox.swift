import Foundation
import Pipeline
import Sandbox
import SystemPackage

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

extension LocalPlace {
    /// The sandbox policy of a step. A step with secrets and a review each have a sandbox of their own.
    func policy(of step: PlannedStep, hasSecrets: Bool) -> SandboxPolicy {
        SandboxPolicy(
            network: step.network, permissions: Set(step.permissions),
            owner: hasSecrets || step.review != nil ? step.name : nil, reachable: reachable)
    }

    /// The command that starts `stepinit` for steps with this policy.
    ///
    /// - Parameters:
    ///   - groups: The number of control groups that it gets a descriptor for.
    ///   - enter: The arguments that lead to the workspace's mount; nil for those of ``workspaceMount``.
    func hostCommand(_ policy: SandboxPolicy, groups: Int, enter: [String]? = nil) -> [String] {
        let entering = groups > 0 ? ["--enter", String(groups)] : []
        guard let runSandbox else { return [stepInit.string] + entering }
        let caches = runSandbox.caches.sorted { $0.key < $1.key }.map(\.value)
        return (enter ?? workspaceMount?.enter ?? [])
            + runSandbox.sandbox.command(
                policy, mounts: ownMounts + runSandbox.mounts + caches, user: runSandbox.user,
                lifetime: .withSocket(groups: groups),
                // Each step's process changes to its folder by itself. Before the workspace is mounted, nothing may
                // hold a folder below the mount point.
                directory: Sandbox.hasMounts ? "/" : workspace.string, [])
    }

    /// The `stepinit` process that this command starts.
    func stepHost(_ words: [String], _ group: ControlGroup?) -> StepHost {
        StepHost(command: words, group: group?.rest, isEnclosed: runSandbox != nil)
    }

    /// The folder for an attempt's secrets, in memory where possible.
    ///
    /// A sandbox has a file system in memory for it. Without a sandbox it is a folder that only the daemon's user can
    /// enter.
    func makeSecretsFolder() throws -> FilePath {
        if runSandbox != nil, Sandbox.hasMounts { return FilePath(Sandbox.Place.secrets) }
        let memory = "/dev/shm"
        let parent = access(memory, W_OK) == 0 ? memory : (runSandbox == nil ? folder : temporary).string
        let folder = FilePath("\(parent)/pipectl-\(UInt64.random(in: 0 ... .max))")
        guard mkdir(folder.string, 0o700) == 0 else { throw Errno(rawValue: errno) }
        if let user = runSandbox?.user { try Ownership.give(folder.string, to: user) }
        return folder
    }

    /// Removes the folder that ``makeSecretsFolder()`` created. Its files are already gone.
    func removeSecretsFolder(of command: StepCommand) {
        if command.secretsFolder.string != Sandbox.Place.secrets { rmdir(command.secretsFolder.string) }
    }

    var ownMounts: [SandboxMount] {
        [
            SandboxMount(workspace.string, at: seen(workspace).string, isReadOnly ? .read : .write),
            SandboxMount(home.string, at: seen(home).string, .write),
            SandboxMount(temporary.string, at: seen(temporary).string, .write),
            SandboxMount(shown.string, at: Sandbox.hasMounts ? Sandbox.Place.shown : shown.string),
            SandboxMount(published.string, at: seen(published).string, .write),
        ]
    }

    /// Creates the folders that only sandboxed steps have, and makes the steps' user the owner of what steps write to.
    ///
    /// - Parameter plan: Nil before the run is known: the daemon still owns the workspace then, because it has to fill
    ///   it.
    func prepareSandbox(for plan: Plan?) throws {
        guard let runSandbox else { return }
        let files = FileManager.default
        for made in [home, temporary] {
            try files.createDirectory(atPath: made.string, withIntermediateDirectories: true)
        }
        let number = runSandbox.user ?? StepUser(user: geteuid(), group: getegid())
        try SmallFile.keep(
            "root:x:0:0::/nonexistent:/bin/sh\npipectl:x:\(number.user):\(number.group)::\(seen(home).string):/bin/sh\n",
            at: shown.appending("passwd").string, isForAll: true)
        try SmallFile.keep(
            "root:x:0:\npipectl:x:\(number.group):\n", at: shown.appending("group").string, isForAll: true)
        if let plan { try linkCaches(of: plan, runSandbox) }
        guard let user = runSandbox.user else { return }
        // A mounted workspace belongs to that user already.
        let plain = workspaceMount == nil && plan != nil ? [workspace] : []
        for owned in plain + [home, temporary] { try Ownership.give(owned.string, to: user) }
    }

    /// Makes the steps' user the owner of the workspace now rather than when the first step starts: a change of owner is
    /// a change of each file, for whoever compares the files before with those that an agent leaves.
    package func giveWorkspace() throws {
        guard let user = runSandbox?.user, workspaceMount == nil else { return }
        try Ownership.give(workspace.string, to: user)
    }

    /// Links the caches of a plan into the home that steps see, which must be empty.
    func linkCaches(of plan: Plan, _ runSandbox: RunSandbox) throws {
        for use in plan.steps.flatMap(\.caches) where use.path.hasPrefix("~/") {
            guard let cache = runSandbox.caches[use.name] else { continue }
            let link = home.appending(String(use.path.dropFirst(2)))
            try FileManager.default.createDirectory(
                atPath: link.removingLastComponent().string, withIntermediateDirectories: true)
            guard symlink(Sandbox.hasMounts ? cache.target : cache.source, link.string) == 0 || errno == EEXIST else {
                throw Errno(rawValue: errno)
            }
        }
    }
}
