import Client
import ArgumentParser
import DaemonSettings
import Control
import Foundation
import Settings
import StateFiles

struct ConfigShow: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Prints each setting, its value, and where the value comes from.",
        discussion: """
            While a daemon runs, it prints the daemon's settings, and those that the file has changed since its start; \
            otherwise it prints the settings that a command would use now. Secrets are not settings; of a URL only the host is shown.
            """)

    @OptionGroup var state: StateOptions
    @Option(
        help: ArgumentHelp(
            "The file with settings. Default: $PIPECTL_CONFIG, else config.json in the state folder.", valueName: "file"
        ))
    var config: String?
    @Flag(help: "Show only settings that differ from their defaults.") var changed = false
    @Flag(help: "Print JSON.") var json = false

    func run() async throws {
        let folder = try state.folder()
        var records: [SettingRecord]
        if config == nil, let daemon = try await Self.daemon(folder) {
            records = daemon
            Terminal.say("settings of the running daemon")
            if let now = try? DeclaredSettings.resolve(in: folder, config: nil, flags: []).records {
                let keys = SettingChanges.keys(from: daemon, to: now)
                if !keys.isEmpty {
                    Terminal.say(
                        "changed in the file since the daemon started: \(keys.joined(separator: ", ")); restart the daemon to apply them"
                    )
                }
            }
        } else {
            records = try DeclaredSettings.resolve(in: folder, config: config, flags: []).records
        }
        if changed { records = records.filter { $0.source.kind != .standard } }
        if json { return try JSONOutput.print(records) }
        Terminal.put(TextTable.text(["SETTING", "VALUE", "FROM"], records.map { [$0.key, $0.text, $0.source.text] }))
    }

    /// The settings of the daemon; nil if none runs.
    private static func daemon(_ folder: StateFolder) async throws -> [SettingRecord]? {
        do {
            let client = try await DaemonClient<DaemonRequest, DaemonReply>.connect(path: folder.socket)
            guard case .settings(let records) = try await client.ask(.settings) else {
                throw CommandEnd(code: 3, message: "the daemon did not report its settings; is it an older version?")
            }
            return records
        } catch let error as DaemonError where error.code == .notRunning {
            return nil
        }
    }
}

/// The settings that would change if the daemon were started again.
enum SettingChanges {
    /// The settings whose values differ, as far as the file decides them: the daemon's flags and variables are unknown
    /// here.
    static func keys(from old: [SettingRecord], to new: [SettingRecord]) -> [String] {
        func values(_ records: [SettingRecord]) -> [String: SettingRecord] {
            Dictionary(
                records.filter { [.file, .standard].contains($0.source.kind) }.map { ($0.key, $0) }
            ) { first, _ in first }
        }
        let (before, after) = (values(old), values(new))
        let others = Set((old + new).filter { [.flag, .environment].contains($0.source.kind) }.map(\.key))
        return Set(before.keys).union(after.keys).subtracting(others).filter { key in
            let (one, two) = (before[key], after[key])
            guard one?.source.kind == .file || two?.source.kind == .file else { return false }
            return one?.text != two?.text
        }.sorted()
    }
}
