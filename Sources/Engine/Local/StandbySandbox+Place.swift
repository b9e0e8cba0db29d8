package import Sandbox

extension StandbySandbox {
    /// Creates the folders of `place` and starts a sandbox with the policy that most steps have. It blocks.
    ///
    /// - Parameter holder: Mounts the workspace once its layers are known; nil for a plain folder. The caller
    ///   closes it.
    /// - Throws: Why the sandbox can't be started; then nothing of it is left but the folders.
    package convenience init(place: LocalPlace, over holder: OverlayMount? = nil) throws {
        try holder?.waitUntilOpen()
        try place.makeFolders()
        try place.prepareSandbox(for: nil)
        try self.init(
            groups: place.controlGroups, groupName: place.groupName, workspace: place.seen(place.workspace),
            isEnclosed: place.runSandbox != nil
        ) { groups in
            place.hostCommand(SandboxPolicy(), groups: groups, enter: holder?.enter)
        }
    }
}
