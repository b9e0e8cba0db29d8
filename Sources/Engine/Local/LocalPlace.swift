import Concurrency
package import Pipeline
package import Sandbox
package import SystemPackage

/// The machine of the daemon as a place for steps: each is a process under `stepinit`, in a sandbox where there is one.
package struct LocalPlace: RunPlace {
    /// The workspace's path, as sandboxes show it to steps.
    package var workspace: FilePath
    /// The mount of the workspace, if it is mounted for the run alone, where the daemon can't see it.
    package var workspaceMount: WorkspaceMount?
    /// An existing folder of the run outside the workspace, which holds what its steps see beside the workspace.
    package var folder: FilePath
    /// The path of the `stepinit` program.
    package var stepInit: FilePath
    /// Returns the command that starts a closure step.
    package var closureCommand: @Sendable (_ step: String) -> [String]
    /// The sandbox of the run's steps; nil: they run without one, as pipectl's own user.
    package var runSandbox: RunSandbox?
    /// A sandbox that was started in advance with the folders and the user of this run. The run ends it, used or not.
    package var standby: StandbySandbox?
    /// Counts and limits all processes of a step together; nil on machines without control groups.
    package var controlGroups: ControlGroups?
    /// Called right after a step's process was requested. It must not block; it may start work that was deferred until
    /// then.
    package var launched: (@Sendable () -> Void)?
    /// Whether steps see the workspace without the right to write to it.
    package var isReadOnly = false
    /// See ``SandboxPolicy/reachable``.
    package var reachable: Set<String> = []
    /// By step, the folders of a review, in place of those that the run's other steps share.
    package var rooms: [String: ReviewRoom] = [:]
    /// The folders of the one review that this place is for; nil: those that steps share.
    var room: ReviewRoom?

    package init(
        workspace: FilePath, folder: FilePath, stepInit: FilePath,
        closureCommand: @escaping @Sendable (_ step: String) -> [String] = { _ in [] }
    ) {
        self.workspace = workspace
        self.folder = folder
        self.stepInit = stepInit
        self.closureCommand = closureCommand
    }

    package func open<Value: Sendable>(
        for plan: Plan, _ body: @escaping @Sendable (any OpenPlace) async -> Value
    ) async throws -> (value: Value, isAllEnded: Bool) {
        let result: Result<(value: Value, isAllEnded: Bool), any Error> = await StepLoop.run { loop in
            let place: OpenLocalPlace
            do {
                place = try await StepLoop.block(loop) {
                    try makeFolders()
                    try prepareSandbox(for: plan)
                    try prepareRooms(for: plan)
                    return OpenLocalPlace(place: self, quota: try makeQuota(for: plan), loop: loop)
                }
            } catch {
                return .failure(error)
            }
            let value = await body(place)
            do {
                return .success((value, try await StepLoop.block(loop) { place.close() }))
            } catch {
                return .success((value, place.close()))
            }
        }
        return try result.get()
    }
}
