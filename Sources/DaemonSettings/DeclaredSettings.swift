import Listening
import Watching
import Forges
import DaemonLog
import Foundation
import Git
import Pipeline
package import Settings
import Preparing

/// Every setting of the daemon, declared once: the file's keys, the variables, the flags, the help and docs/settings.md
/// follow from it.
///
/// To add a setting: add a line here and in ``all``. For a flag, add an `@Option` in one of the option groups.
package enum DeclaredSettings {
    package static let table = SettingsTable(all.map(\.setting))

    package static let all: [DeclaredSetting] =
        [slots, resources, grace, minimumFree, logLimit]
        + stepLimits + runLimits + treeLimits
        + [allowUnsandboxed, readable, writable, shared]
        + [protected, allowAuthors, protectPaths, contributors]
        + [proofs, proofSampling, snapshotLimit, refresh, cleanRoom, keepFailed, keepFailedLimit]
        + [interval, changes, target, since, fetchDeadline]
        + [notes, runLog, notifyCommand, notifyURL, notifyOn, verbose]
        + [listen, listenCertificate, listenKey, listenURL]
        + [pages, pagesUserHeader, pagesOperators, pagesSignIn] + [editedCommands, commandBots] + [logFormat]

    // MARK: Capacity

    package static let slots = DeclaredSetting(
        setting: Setting(
            "slots", .whole(1...1_024), standard: nil, note: "the number of processors", flag: .option("slots"),
            "How many steps run at the same time.")
    ) { value, daemon in
        guard case .whole(let count) = value else { return }
        (daemon.options.slots, daemon.options.runs) = (count, count)
    }
    package static let resources = DeclaredSetting(
        setting: Setting(
            "resources", .counts, standard: .counts([:]), flag: .option("resource"),
            "The daemon's capacity of a named resource, as name=count on the command line; may be repeated.")
    ) { value, daemon in
        if case .counts(let counts) = value { daemon.options.capacities = counts }
    }
    package static let grace = DeclaredSetting.duration(
        "grace", .zero ... .seconds(3_600), \.options.grace, flag: .option("grace"), bare: .seconds,
        "How long a step may take to end after SIGTERM.")
    package static let minimumFree = DeclaredSetting.size(
        "minimumFree", 0...1 << 50, \.options.minimumFreeBytes, flag: .option("minimum-free"), bare: .mebibytes,
        "No run starts while less than this (at least 8MiB) is free on the disk of the state folder.")
    package static let logLimit = DeclaredSetting.size(
        "logLimit", 1 << 20...1 << 40, \.options.logBytes, flag: .option("log-limit"), bare: .mebibytes,
        "How much of each log's start, and of its end, is kept.")

    // MARK: Limits

    package static let stepLimits = limits(
        "step", flag: "limit", memory: \.options.stepLimits.memory, processes: \.options.stepLimits.processes,
        cpuTime: \.options.stepLimits.cpuTime, wallTime: \.options.stepLimits.wallTime,
        output: \.options.stepLimits.output, workspace: \.options.stepLimits.workspace,
        fileSize: \.options.stepLimits.fileSize, openFiles: \.options.stepLimits.openFiles)
    package static let runLimits = limits(
        "run", flag: "run-limit", memoryNote: "seven eighths of the machine's memory",
        memory: \.options.runLimits.memory, processes: \.options.runLimits.processes,
        cpuTime: \.options.runLimits.cpuTime, wallTime: \.options.runLimits.wallTime,
        output: \.options.runLimits.output, workspace: \.options.runLimits.workspace,
        fileSize: \.options.runLimits.fileSize, openFiles: \.options.runLimits.openFiles)

    private static func limits(
        _ of: String, flag: String, memoryNote: String? = nil, memory: any DeclaredSetting.Path<Int?>,
        processes: any DeclaredSetting.Path<Int?>, cpuTime: any DeclaredSetting.Path<Double?>,
        wallTime: any DeclaredSetting.Path<Double?>,
        output: any DeclaredSetting.Path<Int?>, workspace: any DeclaredSetting.Path<Int?>,
        fileSize: any DeclaredSetting.Path<Int?>,
        openFiles: any DeclaredSetting.Path<Int?>
    ) -> [DeclaredSetting] {
        func key(_ name: String) -> String { "limits.\(of).\(name)" }
        func member(_ name: String) -> Setting.Flag { .member(of: flag, name: name) }
        return [
            .sizeLimit(key("memory"), memory, note: memoryNote, flag: member("memory"), "Memory of each \(of)."),
            .limit(key("processes"), processes, flag: member("processes"), "Processes and threads of each \(of)."),
            .timeLimit(key("cpuTime"), cpuTime, flag: member("cpu-time"), "Processor time of each \(of)."),
            .timeLimit(
                key("wallTime"), wallTime, flag: member("wall-time"), "Time from the start to the end of each \(of)."),
            .sizeLimit(key("output"), output, flag: member("output"), "Output of each \(of)."),
            .sizeLimit(
                key("workspace"), workspace, flag: member("workspace"),
                "Workspace, home and temporary folder of each \(of), on disk."),
            .sizeLimit(
                key("fileSize"), fileSize, flag: member("file-size"), "The largest file that each \(of) writes."),
            .limit(
                key("openFiles"), openFiles, flag: member("open-files"), "Open files of each process of each \(of)."),
        ]
    }

    package static let treeLimits = [
        DeclaredSetting.whole(
            "limits.tree.entries", 1...1_000_000_000, \.options.treeLimits.entries,
            flag: .member(of: "tree-limit", name: "entries"),
            "Files and folders of a commit, counted before the checkout."),
        .size(
            "limits.tree.size", 1...1 << 50, \.options.treeLimits.bytes, flag: .member(of: "tree-limit", name: "size"),
            bare: .mebibytes, "All files of a commit together."),
        .size(
            "limits.tree.fileSize", 1...1 << 50, \.options.treeLimits.fileBytes,
            flag: .member(of: "tree-limit", name: "file-size"), bare: .mebibytes, "The largest file of a commit."),
    ]

    // MARK: Sandbox

    package static let allowUnsandboxed = DeclaredSetting.flag(
        "sandbox.allowUnsandboxed", \.options.allowsUnsandboxed, flag: .toggle("allow-unsandboxed"),
        "If no sandbox is possible, run changes without one, with all rights of this user.")
    package static let readable = DeclaredSetting.list(
        "sandbox.readable", \.options.readable, flag: .option("readable"),
        "A folder that steps may read; may be repeated.", check: folder)
    package static let writable = DeclaredSetting.list(
        "sandbox.writable", \.options.writable, flag: .option("writable"),
        "A folder that steps of merged code may write and other steps may read; may be repeated.", check: folder)
    package static let shared = DeclaredSetting.list(
        "sandbox.shared", \.options.shared, flag: .option("shared"),
        "A folder that all steps may write, also those of unmerged changes; may be repeated.", check: folder)

    // MARK: Trust

    package static let protected = DeclaredSetting.list(
        "trust.protected", \.protected, flag: .option("protected"),
        "Further protected branches, as a glob: their commits count as merged; may be repeated.", check: glob)
    package static let allowAuthors = DeclaredSetting.list(
        "trust.allowAuthors", \.allowedAuthors, flag: .option("allow-authors"),
        "Changes by other authors need approval: a name or e-mail, as a glob like '*@example.com'; may be repeated.",
        check: glob)
    package static let protectPaths = DeclaredSetting.list(
        "trust.protectPaths", \.protectedPaths, flag: .option("protect-paths"),
        "Changes to paths that match this glob need approval; may be repeated.", check: glob)

    package static let contributors = DeclaredSetting(
        setting: Setting(
            "trust.contributors", .text, standard: .text(ContributorRule.contributors.rawValue),
            flag: .option("contributors"),
            "At a connected forge, whose changes run without approval: writers (who may push), contributors (also who had a change merged before) or anyone.",
            check: { ContributorRule(rawValue: $0) == nil ? "there are writers, contributors and anyone." : nil })
    ) { value, daemon in
        if case .text(let text) = value, let rule = ContributorRule(rawValue: text) { daemon.contributors = rule }
    }

    // MARK: Proofs and workspaces

    package static let proofs = DeclaredSetting.flag(
        "proofs.enabled", \.options.usesProofs, flag: .inverted("proofs"),
        "Skip steps that are proved by an earlier run with the same inputs.")
    package static let proofSampling = DeclaredSetting(
        setting: Setting(
            "proofs.sampling", .share, standard: .share(0.02), flag: .option("proof-sampling"),
            "The share of proved steps that run anyway, to find wrong proofs.")
    ) { value, daemon in
        if case .share(let share) = value { daemon.options.proofSampling = share }
    }.ofDaemon()
    package static let snapshotLimit = DeclaredSetting.size(
        "snapshots.limit", 0...1 << 50, \.options.snapshotBytes, flag: .option("base-limit"), bare: .gibibytes,
        "Disk space for all snapshots together; with 0 every run starts from a fresh workspace.")
    package static let refresh = DeclaredSetting.flag(
        "snapshots.refresh", \.options.refreshesSnapshots, standard: true, flag: .inverted("refresh"),
        "Use idle time to keep warm workspaces of target branches, and to test these branches in fresh ones."
    ).ofDaemon()
    package static let cleanRoom = DeclaredSetting.duration(
        "snapshots.cleanRoom", .milliseconds(360) ... .seconds(360_000_000), \.options.cleanRoomInterval,
        flag: .option("clean-room"), bare: .hours,
        "The time after which a branch that passes in a warm workspace is tested in a fresh one.")
    package static let keepFailed = DeclaredSetting.duration(
        "retained.time", .zero ... .seconds(864_000_000), \.options.keepFailed, flag: .option("keep-failed"), bare: nil,
        "How long a failed run's workspace is retained for `rerun --failed` and `open`; 0 for not at all.")
    package static let keepFailedLimit = DeclaredSetting.size(
        "retained.limit", 0...1 << 50, \.options.retainedBytes, flag: .option("keep-failed-limit"), bare: .gibibytes,
        "Disk space for all retained workspaces together.")

    // MARK: Watching

    package static let interval = DeclaredSetting(
        setting: Setting(
            "watch.interval", .duration(.milliseconds(100) ... .seconds(86_400)), standard: nil,
            note: "30s; 3m for a local repository whose file events are complete", flag: .option("interval"),
            bare: .time(.seconds), isPerRepository: true, "The time between two observations of a repository.")
    ) { value, daemon in
        if case .duration(let time) = value { daemon.watching.interval = time }
    }
    package static let changes = DeclaredSetting.list(
        "watch.changes", \.watching.changePatterns, flag: .option("changes"), isPerRepository: true,
        "Branches that count as changes, as a glob like 'agent/*'; may be repeated.", check: glob)
    package static let target = DeclaredSetting.text(
        "watch.target", \.watching.target,
        note:
            "the branch of the repository's HEAD at the first observation, or the one that `pipectl protect` has set since",
        flag: .option("target"), isPerRepository: true, "The target branch, whose commits count as merged.")
    package static let since = DeclaredSetting(
        setting: Setting(
            "watch.since", .text, standard: nil, note: "none", flag: .option("since"), isPerRepository: true,
            "At the first observation, also test changes pushed since this time: 6h or 2d ago, or a date like 2026-01-31.",
            check: { PastTime.read($0) == nil ? "write a time like 6h or 2d, or a date like 2026-01-31." : nil })
    ) { value, daemon in
        if case .text(let text) = value { daemon.watching.since = PastTime.read(text) }
    }
    package static let fetchDeadline = DeclaredSetting.duration(
        "watch.fetchDeadline", .seconds(1) ... .seconds(86_400), \.watching.fetchDeadline,
        flag: .option("fetch-deadline"), bare: .seconds, isPerRepository: true, "How long a fetch may take.")

    // MARK: Telling

    package static let notes = DeclaredSetting.flag(
        "notes", \.options.writesNotes, flag: .toggle("notes"),
        "Also write a summary of each run to refs/notes/pipectl of the watched repository."
    ).ofDaemon()
    package static let runLog = DeclaredSetting.text(
        "runLog", \.options.runLog, flag: .option("run-log"),
        "Append a line to this file for each run that ends: run, repository, workflow, subject, verdict and seconds, with tabs between them."
    ).ofDaemon()
    package static let notifyCommand = DeclaredSetting.text(
        "notify.command", \.options.notify.command, flag: .option("notify-command"),
        "Run this command line for each event, with the event as JSON on standard input; retried until it exits with 0."
    ).ofDaemon()
    package static let notifyURL = DeclaredSetting.text(
        "notify.url", \.options.notify.url, flag: .option("notify-url"), isPrivate: true,
        "POST each event as JSON to this http or https URL with curl; retried until it succeeds.",
        check: { url in
            if !url.hasPrefix("http://") && !url.hasPrefix("https://") { return "it is not an http or https URL." }
            return url.contains(" ") ? "a URL has no spaces." : nil
        }
    ).ofDaemon()
    package static let notifyOn = DeclaredSetting(
        setting: Setting(
            "notify.on", .list, standard: .list(events(NotifyOptions().events)), flag: .option("notify-on"),
            "An event: branch, change, red, green, release or approval; may be repeated.",
            check: { NotifyEvent.Kind(rawValue: $0) == nil ? "there are \(allEvents)." : nil })
    ) { value, daemon in
        if case .list(let names) = value { daemon.options.notify.events = Set(names.compactMap(NotifyEvent.Kind.init)) }
    }.ofDaemon()
    package static let verbose = DeclaredSetting.flag(
        "verbose", \.isVerbose, flag: .toggle("verbose"), "Write more to the daemon's log.")
    package static let logFormat = DeclaredSetting.text(
        "log.format", \.logFormat, note: LogFormat.text.rawValue, flag: .option("log-format"),
        "The daemon's log on standard error: text, or json for an object in each line (docs/log.md).",
        check: { LogFormat(rawValue: $0) == nil ? "there are text and json." : nil }
    ).ofDaemon()

    // MARK: Webhooks

    package static let listen = DeclaredSetting.text(
        "listen", \.options.listen.address, flag: .option("listen"),
        "Hear webhooks of forges, and show pages, at this PORT of loopback, or HOST:PORT.",
        check: { text in
            do {
                _ = try ListenAddress(text)
                return nil
            } catch { return "write PORT or HOST:PORT." }
        }
    ).ofDaemon()
    package static let listenCertificate = DeclaredSetting.text(
        "listenCertificate", \.options.listen.certificate, flag: .option("listen-certificate"),
        "A file in PEM with the certificate for TLS, and those that lead to its issuer."
    ).ofDaemon()
    package static let listenKey = DeclaredSetting.text(
        "listenKey", \.options.listen.key, flag: .option("listen-key"),
        "A file in PEM with the certificate's key."
    ).ofDaemon()
    package static let listenURL = DeclaredSetting.text(
        "listenUrl", \.options.listen.url, flag: .option("listen-url"),
        "The URL under which forges and people reach a proxy that passes requests on.",
        check: { ListenSettings.problem(withURL: $0) }
    ).ofDaemon()

    package static let pages = DeclaredSetting.flag(
        "pages", \.options.listen.showsPages, flag: .inverted("pages"),
        "Show what goes on and what happened to browsers and programs at the address of `listen`."
    ).ofDaemon()
    package static let pagesUserHeader = DeclaredSetting.text(
        "pagesUserHeader", \.options.listen.userHeader, note: "X-Forwarded-User", flag: .option("pages-user-header"),
        "The header in which a proxy with a token of the scope proxy names who asks.",
        check: { ListenSettings.problem(withHeader: $0) }
    ).ofDaemon()
    package static let pagesOperators = DeclaredSetting.list(
        "pagesOperators", \.options.listen.operators, flag: .option("pages-operator"),
        "Somebody whom a proxy names and who may act at the pages; others may read. May be repeated."
    ).ofDaemon()
    package static let pagesSignIn = DeclaredSetting.text(
        "pagesSignIn", \.options.listen.signIn, flag: .option("pages-sign-in"),
        "The client id of the OAuth App that people sign in to the pages with, by their accounts at GitHub."
    ).ofDaemon()

    package static let editedCommands = DeclaredSetting.flag(
        "commands.edited", \.options.commands.allowsEdited, flag: .toggle("commands-edited"),
        "Obey commands in comments that were edited, too."
    ).ofDaemon()
    package static let commandBots = DeclaredSetting.list(
        "commands.bots", \.options.commands.bots, flag: .option("commands-bot"),
        "A bot whose commands in comments are obeyed if it may push, by its login; may be repeated."
    ).ofDaemon()

    private static let allEvents = NotifyEvent.Kind.allCases.map(\.rawValue).joined(separator: ", ")

    private static func events(_ kinds: Set<NotifyEvent.Kind>) -> [String] {
        NotifyEvent.Kind.allCases.filter(kinds.contains).map(\.rawValue)
    }

    // MARK: Checks

    private static let glob: DeclaredSetting.Check = { text in
        do throws(GlobProblem) {
            _ = try Glob(text)
            return nil
        } catch { return error.description }
    }

    private static let folder: DeclaredSetting.Check = { path in
        guard path.hasPrefix("/"), path != "/", FileManager.default.fileExists(atPath: path) else {
            return "it is not the absolute path of an existing folder that steps could see."
        }
        return nil
    }
}
