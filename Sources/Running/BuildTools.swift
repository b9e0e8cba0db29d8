package import Preparing
package import Workspaces
import Sandbox
package import WorkflowPrograms
package import StateFiles
import Control
import Engine
import Foundation

/// The machine's tools for compiling workflows and for sandboxes; each is found when it is first needed.
package actor BuildTools {
    /// The `stepinit` program.
    package nonisolated let stepInit: String
    private let folder: StateFolder
    private let options: DaemonOptions
    package nonisolated let executable: String?
    private var cache: ProgramCache?
    private var found: Sandboxing?

    /// - Parameter executable: The path of this pipectl; nil for that of this process.
    /// - Throws: ``RequestError`` if `stepinit` is missing.
    package init(folder: StateFolder, options: DaemonOptions, executable: String?) throws {
        self.folder = folder
        self.options = options
        self.executable = executable
        stepInit = try Installation.stepInit(beside: executable)
    }

    /// The cache of compiled workflows. It is made when first needed, so that reports can be read without a compiler.
    package func programs() async throws -> ProgramCache {
        if let cache { return cache }
        let library = try PipelineLibrary.find(beside: executable)
        let toolchain = try await toolchain()
        var programSandbox = await sandboxing().programSandbox
        if let shutdown = options.shutdown { programSandbox.afterEnd = { await shutdown.leaveIfTold(after: $0) } }
        let made = ProgramCache(
            directory: folder.programs, library: library, toolchain: toolchain, programSandbox: programSandbox)
        // Another caller may have been faster. All must share one cache, which compiles each program once.
        let kept = cache ?? made
        cache = kept
        return kept
    }

    private func toolchain() async throws -> Toolchain {
        try await Toolchain.find(memory: "\(folder.programs)/toolchain.json")
    }

    /// How steps and programs are sandboxed; tested when first needed.
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

    /// Updates the copy of the machine's settings unless that was done a moment ago, so that the next run need not.
    ///
    /// It returns at once, since a disk that hangs must not delay an observation.
    package func lookAtSettings() {
        guard let settings = found?.sandbox?.settings else { return }
        DispatchQueue.global().async { settings.renew() }
    }

    /// Removes the control groups of this process.
    package func close() { found?.controlGroups?.close() }
}
