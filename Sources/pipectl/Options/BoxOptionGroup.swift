import ArgumentParser
import BuildBox
import Foundation
import Settings
import StateFiles

/// Settings of the box that can be given for one command; the same flags as those of the daemon.
struct BoxOptionGroup: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The file with settings. Default: $PIPECTL_CONFIG, else config.json in the state folder.", valueName: "file"
        ))
    var config: String?
    @Option(BoxSettings.slots) var slots: GivenFlag?
    @Option(BoxSettings.resources) var resources: [GivenFlag] = []
    @Option(BoxSettings.grace) var grace: GivenFlag?
    @Option(BoxSettings.minimumFree) var minimumFree: GivenFlag?
    @Option(BoxSettings.snapshotLimit) var baseLimit: GivenFlag?
    @Option(BoxSettings.logLimit) var logLimit: GivenFlag?
    @Option(BoxSettings.protected, "glob") var protected: [GivenFlag] = []
    @Option(BoxSettings.allowAuthors, "glob") var allowedAuthors: [GivenFlag] = []
    @Option(BoxSettings.protectPaths, "glob") var protectedPaths: [GivenFlag] = []
    @Flag(BoxSettings.allowUnsandboxed) var allowUnsandboxed = false
    @Option(BoxSettings.readable, "path") var readable: [GivenFlag] = []
    @Option(BoxSettings.writable, "path") var writable: [GivenFlag] = []
    @Option(BoxSettings.shared, "path") var shared: [GivenFlag] = []
    @Option(
        membersOf: "limit",
        "A limit for each step: memory, file-size, output, workspace, cpu-time, wall-time, processes or open-files; 0 means no limit."
    )
    var stepLimits: [GivenFlag] = []
    @Option(membersOf: "run-limit", "A limit for each run as a whole: as --limit.")
    var runLimits: [GivenFlag] = []
    @Option(
        membersOf: "tree-limit",
        "A limit for a commit's files, checked before the checkout: entries (files and folders), size or file-size.")
    var treeLimits: [GivenFlag] = []

    /// The flags that were given.
    var given: [GivenFlag] {
        let single = [slots, grace, minimumFree, baseLimit, logLimit].compactMap { $0 }
        let lists = [
            resources, protected, allowedAuthors, protectedPaths, readable, writable, shared, stepLimits, runLimits,
            treeLimits,
        ].flatMap { $0 }
        return single + lists
            + (allowUnsandboxed ? [GivenFlag(BoxSettings.allowUnsandboxed.setting, isOn: true)] : [])
    }

    /// The options of a box that this process opens for one command.
    ///
    /// - Throws: `SettingsError` with everything that is wrong.
    func options(in folder: StateFolder) throws -> BoxOptions {
        try BoxSettings.resolve(in: folder, config: config, flags: given).configuration(isDaemon: false).options
    }
}
