package import Sandbox

extension StandbySandbox {
    /// Makes the folders of `setting` and starts a sandbox with the policy that most steps have. Blocks.
    ///
    /// - Parameter holder: What will mount the workspace once it is known what lies in it; nil for a plain folder. It stays
    ///   the caller's to close.
    /// - Throws: Why it can't be started; then nothing of it is left but the folders.
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
