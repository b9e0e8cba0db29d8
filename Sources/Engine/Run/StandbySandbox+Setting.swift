package import Sandbox

extension StandbySandbox {
    /// Creates the folders of `setting` and starts a sandbox with the policy that most steps have. It blocks.
    ///
    /// - Parameter holder: Mounts the workspace once its layers are known; nil for a plain folder. The caller
    ///   closes it.
    /// - Throws: Why the sandbox can't be started; then nothing of it is left but the folders.
    package convenience init(setting: RunSetting, over holder: OverlayMount? = nil) throws {
        try holder?.waitUntilOpen()
        try setting.makeFolders(for: nil)
        try setting.prepareSandbox(for: nil)
        try self.init(
            groups: setting.controlGroups, groupName: setting.groupName, workspace: setting.seen(setting.workspace),
            isEnclosed: setting.runSandbox != nil
        ) { groups in
            setting.hostCommand(SandboxPolicy(), groups: groups, enter: holder?.enter)
        }
    }
}
