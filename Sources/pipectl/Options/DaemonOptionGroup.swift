import ArgumentParser
import DaemonSettings
import Client
import Daemon
import Foundation
import Settings
import StateFiles
import Preparing

/// Settings of the daemon that a single command can override, with the same flags.
struct DaemonOptionGroup: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The file with settings. Default: $PIPECTL_CONFIG, else config.json in the state folder.", valueName: "file"
        ))
    var config: String?
    @Option(DeclaredSettings.slots) var slots: GivenFlag?
    @Option(DeclaredSettings.resources) var resources: [GivenFlag] = []
    @Option(DeclaredSettings.grace) var grace: GivenFlag?
    @Option(DeclaredSettings.minimumFree) var minimumFree: GivenFlag?
    @Option(DeclaredSettings.snapshotLimit) var baseLimit: GivenFlag?
    @Option(DeclaredSettings.logLimit) var logLimit: GivenFlag?
    @Option(DeclaredSettings.protected, "glob") var protected: [GivenFlag] = []
    @Option(DeclaredSettings.allowAuthors, "glob") var allowedAuthors: [GivenFlag] = []
    @Option(DeclaredSettings.protectPaths, "glob") var protectedPaths: [GivenFlag] = []
    @Option(DeclaredSettings.contributors, "who") var contributors: GivenFlag?
    @Flag(DeclaredSettings.allowUnsandboxed) var allowUnsandboxed = false
    @Option(DeclaredSettings.readable, "path") var readable: [GivenFlag] = []
    @Option(DeclaredSettings.writable, "path") var writable: [GivenFlag] = []
    @Option(DeclaredSettings.shared, "path") var shared: [GivenFlag] = []
    @Option(
        membersOf: "limit",
        "A limit for each step: memory, file-size, output, workspace, cpu-time, wall-time, processes or open-files; 0 means no limit."
    )
    var stepLimits: [GivenFlag] = []
    @Option(membersOf: "run-limit", "A limit for each run as a whole, with the names of --limit.")
    var runLimits: [GivenFlag] = []
    @Option(
        membersOf: "tree-limit",
        "A limit for a commit's files, checked before the checkout: entries (files and folders), size or file-size.")
    var treeLimits: [GivenFlag] = []

    /// The flags on the command line.
    var given: [GivenFlag] {
        let single = [slots, grace, minimumFree, baseLimit, logLimit, contributors].compactMap { $0 }
        let lists = [
            resources, protected, allowedAuthors, protectedPaths, readable, writable, shared, stepLimits, runLimits,
            treeLimits,
        ].flatMap { $0 }
        return single + lists
            + (allowUnsandboxed ? [GivenFlag(DeclaredSettings.allowUnsandboxed.setting, isOn: true)] : [])
    }

    /// The running daemon; without one, the state opened by this process with these settings.
    func open(_ folder: StateFolder, _ purpose: String) async throws -> DaemonAccess {
        try await DaemonAccess.open(folder) {
            try await Daemon.own(folder, purpose, options: options(in: folder))
        }
    }

    /// The options of a daemon that this process opens for one command.
    ///
    /// - Throws: `SettingsError` with every mistake that was found.
    func options(in folder: StateFolder) throws -> DaemonOptions {
        try DeclaredSettings.resolve(in: folder, config: config, flags: given).configuration(isDaemon: false).options
    }
}
