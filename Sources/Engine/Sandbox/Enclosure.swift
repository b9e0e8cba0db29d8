import Foundation
import Pipeline
import Synchronization
import SystemPackage

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// The sandboxes of one run: one for each policy that its steps have.
public struct Enclosure: Sendable {
    public let sandbox: Sandbox
    /// Whom steps become; nil where the box isn't root.
    public let user: StepUser?
    /// What its sandboxes show beside the system and the run's own folders.
    public var mounts: [SandboxMount]
    /// Folders that outlive the run, by the name that steps give them.
    public var caches: [String: SandboxMount]

    public init(sandbox: Sandbox, user: StepUser?, mounts: [SandboxMount] = [], caches: [String: SandboxMount] = [:]) {
        self.sandbox = sandbox
        self.user = user
        self.mounts = mounts
        self.caches = caches
    }
}

extension RunSetting {
    /// The policy of a step; those with secrets and those that review have a sandbox for themselves.
    func policy(of step: PlannedStep, hasSecrets: Bool) -> SandboxPolicy {
        SandboxPolicy(
            network: step.network, permissions: Set(step.permissions),
            owner: hasSecrets || step.review != nil ? step.name : nil)
    }

    /// The words that start `stepinit` for steps of this policy.
    ///
    /// - Parameters:
    ///   - groups: How many control groups it finds an entrance to.
    ///   - enter: The words that lead to the workspace's mount; nil for those of ``workspaceMount``.
    func hostCommand(_ policy: SandboxPolicy, groups: Int, enter: [String]? = nil) -> [String] {
        let entering = groups > 0 ? ["--enter", String(groups)] : []
        guard let enclosure else { return [stepInit.string] + entering }
        let caches = enclosure.caches.sorted { $0.key < $1.key }.map(\.value)
        return (enter ?? workspaceMount?.enter ?? [])
            + enclosure.sandbox.command(
                policy, mounts: ownMounts + enclosure.mounts + caches, user: enclosure.user,
                lifetime: .withSocket(groups: groups),
                // Each step's process goes to its folder by itself; before a workspace is mounted nobody is to be below that.
                directory: Sandbox.hasMounts ? "/" : workspace.string, [])
    }

    /// The `stepinit` that these words start.
    func stepHost(_ words: [String], _ group: ControlGroup?) -> StepHost {
        StepHost(command: words, group: group?.rest, isEnclosed: enclosure != nil)
    }

    /// Where an attempt finds its secrets: in memory where that is possible.
    ///
    /// A sandbox has a file system of its own there; without one it is a folder that only the box's user can enter.
    func makeSecretsFolder() throws -> FilePath {
        if enclosure != nil, Sandbox.hasMounts { return FilePath(Sandbox.Place.secrets) }
        let memory = "/dev/shm"
        let parent = access(memory, W_OK) == 0 ? memory : (enclosure == nil ? folder : temporary).string
        let folder = FilePath("\(parent)/pipectl-\(UInt64.random(in: 0 ... .max))")
        guard mkdir(folder.string, 0o700) == 0 else { throw Errno(rawValue: errno) }
        if let user = enclosure?.user { try Ownership.give(folder.string, to: user) }
        return folder
    }

    /// Removes what ``makeSecretsFolder()`` made; the files in it are gone by then.
    func removeSecretsFolder(of command: StepCommand) {
        if command.secretsFolder.string != Sandbox.Place.secrets { rmdir(command.secretsFolder.string) }
    }

    var ownMounts: [SandboxMount] {
        [
            SandboxMount(workspace.string, at: seen(workspace).string, .write),
            SandboxMount(home.string, at: seen(home).string, .write),
            SandboxMount(temporary.string, at: seen(temporary).string, .write),
            SandboxMount(shown.string, at: Sandbox.hasMounts ? Sandbox.Place.shown : shown.string),
            SandboxMount(published.string, at: seen(published).string, .write),
        ]
    }

    /// Makes the folders that only enclosed steps have, and gives what steps write to their user.
    ///
    /// - Parameter plan: Nil before the run is known: the workspace stays the box's, which has yet to fill it.
    func prepareEnclosure(for plan: Plan?) throws {
        guard let enclosure else { return }
        let files = FileManager.default
        for made in [home, temporary] {
            try files.createDirectory(atPath: made.string, withIntermediateDirectories: true)
        }
        let number = enclosure.user ?? StepUser(user: geteuid(), group: getegid())
        try SmallFile.keep(
            "root:x:0:0::/nonexistent:/bin/sh\npipectl:x:\(number.user):\(number.group)::\(seen(home).string):/bin/sh\n",
            at: shown.appending("passwd").string, isForAll: true)
        try SmallFile.keep(
            "root:x:0:\npipectl:x:\(number.group):\n", at: shown.appending("group").string, isForAll: true)
        if let plan { try linkCaches(of: plan, enclosure) }
        guard let user = enclosure.user else { return }
        // What is mounted is theirs already.
        let plain = workspaceMount == nil && plan != nil ? [workspace] : []
        for owned in plain + [home, temporary] { try Ownership.give(owned.string, to: user) }
    }

    /// In a home that is still empty; steps find their caches there as links.
    func linkCaches(of plan: Plan, _ enclosure: Enclosure) throws {
        for use in plan.steps.flatMap(\.caches) where use.path.hasPrefix("~/") {
            guard let cache = enclosure.caches[use.name] else { continue }
            let link = home.appending(String(use.path.dropFirst(2)))
            try FileManager.default.createDirectory(
                atPath: link.removingLastComponent().string, withIntermediateDirectories: true)
            guard symlink(Sandbox.hasMounts ? cache.target : cache.source, link.string) == 0 || errno == EEXIST else {
                throw Errno(rawValue: errno)
            }
        }
    }
}

/// The `stepinit` processes of a run: one for each policy, started with the first step that has it.
final class StepHosts: Sendable {
    private let setting: RunSetting
    private let group: ControlGroup?
    private let hosts = Mutex<[SandboxPolicy: StepHost]>([:])
    /// The run's thread; nil where the system had none to give.
    let loop: StepLoop?

    /// - Parameter group: The run's control group.
    init(setting: RunSetting, group: ControlGroup?, loop: StepLoop?) {
        self.setting = setting
        self.group = group
        self.loop = loop
    }

    /// - Parameter setting: That of the step, which may have folders of its own.
    func host(for policy: SandboxPolicy, in setting: RunSetting) -> StepHost {
        // Without a sandbox there is nothing that policies could differ in.
        let key = setting.enclosure == nil ? SandboxPolicy() : policy
        return hosts.withLock { hosts in
            if let host = hosts[key] { return host }
            let words = setting.hostCommand(policy, groups: group?.count ?? 0)
            let host =
                setting.standby?.take(startedWith: words, seeing: setting.workspaceMount)
                ?? setting.stepHost(words, group)
            hosts[key] = host
            return host
        }
    }

    /// Those that were started, by their numbers: all that the steps start is below them.
    var processes: [pid_t] { hosts.withLock { Array($0.values) }.compactMap(\.process) }

    /// Ends them all and waits for that; false when something of them may still live.
    func close() -> Bool {
        let isIdleEnded = setting.standby?.close() ?? true
        let all = hosts.withLock { $0.values }
        return all.reduce(isIdleEnded) { $1.close() && $0 }
    }
}
