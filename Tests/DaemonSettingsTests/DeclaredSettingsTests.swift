import Watching
import TestBasics
import ArgumentParser
import Foundation
import Git
import Pipeline
import Settings
import StateFiles
import TestSupport
import Testing

@testable import DaemonSettings
@testable import pipectl
@testable import Preparing

@Suite struct DeclaredSettingsTests {
    /// A correct value that is not the default.
    private static func sample(_ setting: Setting) -> String {
        switch setting.key {
        case "sandbox.readable", "sandbox.writable", "sandbox.shared": return "/tmp"
        case "watch.since": return "2026-01-31"
        case "notify.url": return "https://hooks.example.com/x"
        case "notify.on": return "change"
        case "listen": return "8787"
        case "listenUrl": return "https://ci.example.com"
        case "pagesUserHeader": return "X-Remote-User"
        case "trust.contributors": return "writers"
        case "log.format": return "json"
        default: break
        }
        switch setting.kind {
        case .flag: return setting.standard == .flag(true) ? "false" : "true"
        case .whole: return "3"
        case .share: return "0.5"
        case .duration: return "33s"
        case .size: return "33MiB"
        case .counts: return "simulator=3"
        case .text, .list: return "sample"
        }
    }

    private static func resolve(
        _ file: String = "{}", environment: [String: String] = [:], flags: [GivenFlag] = []
    ) throws -> ResolvedSettings {
        let table = DeclaredSettings.table
        let document = try SettingsDocument(Array(file.utf8), path: "/box/config.json", table: table)
        return try SettingsResolver(table: table, document: document, environment: environment, flags: flags).resolve()
    }

    private static func described(_ settings: ResolvedSettings, isDaemon: Bool) throws -> String {
        described(try settings.configuration(isDaemon: isDaemon))
    }

    /// A text that is equal for equal values, although a set has no order.
    private static func described(_ configuration: DaemonConfiguration) -> String {
        var configuration = configuration
        let events = configuration.options.notify.events.map(\.rawValue).sorted()
        (configuration.options.notify.events, configuration.options.settings) = ([], [])
        return "\(configuration) \(events)"
    }

    @Test func `keys, flags and variables are unique`() {
        let settings = DeclaredSettings.table.settings
        #expect(Set(settings.map(\.key)).count == settings.count)
        #expect(Set(settings.map(\.environmentName)).count == settings.count)
        let flags = settings.compactMap(\.flag)
        #expect(Set(flags.map(\.text)).count == flags.count)
    }

    /// Variables that pipectl gives to steps or reads for other purposes.
    @Test(arguments: [
        "HOME", "GIT", "SCOPE", "CONFIG", "REPOSITORY", "WORKFLOW", "EVENT", "COMMIT", "HEAD", "REF", "CHANGE",
        "TARGET",
        "RUN", "RUN_ATTEMPT", "ATTEMPT", "WORKSPACE", "VALUES_IN", "VALUES_OUT", "PARAM_VERSION", "CACHE_SWIFTPM",
        "REVIEW_PROMPT", "FIX_PROMPT", "FIX_BUNDLE", "STEP", "TESTS", "BRANCH", "TAG", "BASE",
    ])
    func `no other variable is taken for a setting`(name: String) throws {
        #expect(try Self.resolve(environment: ["PIPECTL_\(name)": "x"]).entries.isEmpty)
    }

    @Test func `without settings a daemon has the options that it has in code`() throws {
        #expect(try Self.described(Self.resolve(), isDaemon: false) == Self.described(DaemonConfiguration()))
        let daemon = try Self.resolve().configuration(isDaemon: true).options
        #expect(daemon.proofSampling == 0.02)
        #expect(daemon.refreshesSnapshots)
        #expect(daemon.runLimits == DaemonOptions().runLimits)
        #expect(daemon.stepLimits == DaemonOptions().stepLimits)
        #expect(daemon.grace == DaemonOptions().grace)
        #expect(daemon.slots == DaemonOptions().slots)
    }

    @Test(arguments: DeclaredSettings.table.settings.map(\.key))
    func `each setting changes what the daemon does`(key: String) throws {
        let setting = try #require(DeclaredSettings.table[key])
        let settings = try Self.resolve(environment: [setting.environmentName: Self.sample(setting)])
        #expect(settings.entries[key]?.source.kind == .environment)
        #expect(try Self.described(settings, isDaemon: true) != Self.described(Self.resolve(), isDaemon: true))
    }

    @Test(arguments: DeclaredSettings.table.settings.map(\.key))
    func `each flag of the table is one of watch`(key: String) throws {
        let setting = try #require(DeclaredSettings.table[key])
        let flag = try #require(setting.flag)
        let sample = Self.sample(setting)
        let arguments =
            switch flag {
            case .option(let name): ["--\(name)", sample]
            case .member(let name, let part): ["--\(name)", "\(part)=\(sample)"]
            case .toggle(let name): ["--\(name)"]
            case .inverted(let name): [sample == "true" ? "--\(name)" : "--no-\(name)"]
            }
        // Events need a receiver.
        let extra = key == "notify.on" ? ["--notify-command", "true"] : []
        let watch = try #require(try Pipectl.parseAsRoot(["watch", "."] + arguments + extra) as? Watch)
        #expect(watch.given.filter { $0.setting.key == key }.map(\.text) == [sample])
        #expect(watch.given.first { $0.setting.key == key }?.typed == arguments.joined(separator: " "))
    }

    @Test func `a bare number of a flag has the unit that it had before there were units`() throws {
        let watch = try #require(
            try Pipectl.parseAsRoot([
                "watch", ".", "--grace", "7", "--minimum-free", "2", "--base-limit", "3", "--log-limit", "4", "--limit",
                "memory=5", "--limit", "cpu-time=6", "--run-limit", "wall-time=7", "--tree-limit", "size=8",
                "--interval",
                "0.5", "--clean-room", "0.5", "--keep-failed-limit", "9", "--fetch-deadline", "10",
            ]) as? Watch)
        let daemon = try Self.resolve(flags: watch.given).configuration(isDaemon: true)
        #expect(daemon.options.grace == .seconds(7))
        #expect(daemon.options.minimumFreeBytes == 2 << 20)
        #expect(daemon.options.snapshotBytes == 3 << 30)
        #expect(daemon.options.logBytes == 4 << 20)
        #expect(daemon.options.stepLimits.memory == 5 << 20)
        #expect(daemon.options.stepLimits.cpuTime == 6)
        #expect(daemon.options.runLimits.wallTime == 7)
        #expect(daemon.options.treeLimits.bytes == 8 << 20)
        #expect(daemon.watching.interval == .milliseconds(500))
        #expect(daemon.options.cleanRoomInterval == .seconds(1_800))
        #expect(daemon.options.retainedBytes == 9 << 30)
        #expect(daemon.watching.fetchDeadline == .seconds(10))
    }

    @Test func `0 takes a limit away`() throws {
        let daemon = try Self.resolve(
            "{\"limits\": {\"run\": {\"memory\": 0, \"processes\": 0, \"wallTime\": \"0s\"}}}"
        )
        .configuration(isDaemon: true)
        #expect(daemon.options.runLimits.memory == nil)
        #expect(daemon.options.runLimits.processes == nil)
        #expect(daemon.options.runLimits.wallTime == nil)
    }

    @Test func `watch takes its repositories from the file, and their values`() throws {
        let settings = try Self.resolve(
            """
            {"watch": {"changes": ["agent/*"], "fetchDeadline": "1m"},
             "repositories": {
               "web": {"location": "/srv/web.git/", "target": "trunk", "interval": "90s"},
               "tool": {"location": "https://git.example.com/tool.git", "changes": []}}}
            """)
        let watched = try settings.watched([])
        #expect(watched.map(\.name) == ["web", "tool"])
        #expect(watched.map(\.location) == ["/srv/web.git", "https://git.example.com/tool.git"])
        #expect(watched.map(\.options.target) == ["trunk", nil])
        #expect(watched.map(\.options.interval) == [.seconds(90), nil])
        #expect(watched.map(\.options.changePatterns) == [["agent/*"], []])
        #expect(watched.map(\.options.fetchDeadline) == [.seconds(60), .seconds(60)])
        // A repository that the command line names keeps its values; another one has the general ones.
        let named = try settings.watched(["/srv/../srv/web.git", "/other"])
        #expect(named.map(\.options.target) == ["trunk", nil])
        #expect(named.map(\.options.changePatterns) == [["agent/*"], ["agent/*"]])
        #expect { try Self.resolve().watched([]) } throws: { ($0 as? MissingSettings)?.code == .repositories }
    }

    @Test func `a file that is named must be there`() throws {
        let folder = try TemporaryFolder()
        let state = try StateFolder(environment: ["PIPECTL_HOME": folder.path])
        #expect(try DeclaredSettings.resolve(in: state, config: nil, flags: [], environment: [:]).entries.isEmpty)
        #expect {
            try DeclaredSettings.resolve(in: state, config: "\(folder.path)/x", flags: [], environment: [:])
        } throws: {
            ($0 as? MissingSettings)?.code == .file
        }
        let path = try folder.write("config.json", Array("{\"slots\": 3}".utf8))
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
        #expect(try DeclaredSettings.resolve(in: state, config: nil, flags: [], environment: [:])["slots"] == .whole(3))
        let environment = ["PIPECTL_CONFIG": "\(folder.path)/y"]
        #expect { try DeclaredSettings.resolve(in: state, config: nil, flags: [], environment: environment) } throws: {
            ($0 as? MissingSettings)?.code == .file
        }
    }

    @Test func `what a file changes after the start is named, and nothing else`() throws {
        let old = try Self.resolve("{\"slots\": 3, \"grace\": \"1s\"}", environment: ["PIPECTL_LOG_LIMIT": "1MiB"])
            .records
        let new = try Self.resolve("{\"slots\": 4, \"verbose\": true, \"logLimit\": \"2MiB\"}").records
        #expect(SettingChanges.keys(from: old, to: old).isEmpty)
        #expect(SettingChanges.keys(from: old, to: new) == ["grace", "slots", "verbose"])
    }

    /// `pipectl config table` prints the expected tables.
    @Test func `the reference page has the tables of the code`() throws {
        let page = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("docs/settings.md")
        let text = try String(contentsOf: page, encoding: .utf8)
        #expect(text.contains(SettingsReference.markdown), "docs/settings.md is not what `pipectl config table` prints")
    }
}
