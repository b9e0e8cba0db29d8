package import Preparing
package import Workspaces
import Sandbox
package import WorkflowPrograms
package import StateFiles
import Control
import Engine
import Foundation

/// What this machine compiles workflows and encloses steps with; each is found out when first wanted.
package actor BuildTools {
    /// The `stepinit` program.
    package nonisolated let stepInit: String
    private let folder: StateFolder
    private let options: BoxOptions
    package nonisolated let executable: String?
    private var cache: ProgramCache?
    private var found: Sandboxing?

    /// - Parameter executable: The path of this pipectl; nil for that of this process.
    /// - Throws: ``RequestError`` where `stepinit` is missing.
    package init(folder: StateFolder, options: BoxOptions, executable: String?) throws {
        self.folder = folder
        self.options = options
        self.executable = executable
        stepInit = try Installation.stepInit(beside: executable)
    }

    /// The compiled workflows. Made when first wanted, so that reports can be read where no compiler is.
    package func programs() async throws -> ProgramCache {
        if let cache { return cache }
        let library = try PipelineLibrary.find(beside: executable)
        let toolchain = try await toolchain()
        var programSandbox = await sandboxing().programSandbox
        if let shutdown = options.shutdown { programSandbox.afterEnd = { await shutdown.leaveIfTold(after: $0) } }
        let made = ProgramCache(
            directory: folder.programs, library: library, toolchain: toolchain, programSandbox: programSandbox)
        // Another caller may have been faster; all must share one, which compiles a program once.
        let kept = cache ?? made
        cache = kept
        return kept
    }

    private func toolchain() async throws -> Toolchain {
        try await Toolchain.find(memory: "\(folder.programs)/toolchain.json")
    }

    /// What encloses steps and programs here; tried out when first wanted.
    package func sandboxing() async -> Sandboxing {
        if let found { return found }
        let tried = await Sandboxing.find(
            stepInit: stepInit, toolchain: try? await toolchain(), folders: options.folders, state: folder,
            stopSignal: options.shutdown.map { _ in ShutdownNotice.scopeSignal }
        ).sharingSettings(in: folder.settings)
        let kept = found ?? tried
        found = kept
        return kept
    }

    /// Has what the machine's settings are now looked at, if that was not done a moment ago; the next run would have to.
    ///
    /// Returns at once: where a disk of theirs does not answer, that is no look's affair.
    package func lookAtSettings() {
        guard let settings = found?.sandbox?.settings else { return }
        DispatchQueue.global().async { settings.renew() }
    }

    /// Gives back what the kernel has for this process.
    package func close() { found?.controlGroups?.close() }
}
