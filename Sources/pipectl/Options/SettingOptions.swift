import ArgumentParser
import DaemonSettings
import Settings

// Flags that are made from the table: name, help and allowed values.

extension DeclaredSetting {
    /// The flag's help, without the default, which `pipectl config show` prints.
    func help(_ valueName: String? = nil) -> ArgumentHelp {
        ArgumentHelp("\(setting.summary)", valueName: valueName ?? setting.kind.valueName)
    }

    fileprivate var flagName: NameSpecification { .customLong(setting.flag?.name ?? setting.name) }

    @Sendable fileprivate func given(_ text: String) throws -> GivenFlag {
        do throws(SettingMistake) { return try GivenFlag(setting, text) } catch {
            throw ValidationError("--\(setting.flag?.name ?? setting.name)\(error.description)")
        }
    }
}

extension SettingKind {
    /// The name of the flag's value in help, in one word.
    fileprivate var valueName: String {
        switch self {
        case .whole: "count"
        case .share: "share"
        case .duration: "time"
        case .size: "size"
        case .counts: "name=count"
        case .flag, .text, .list: "value"
        }
    }
}

extension Option where Value == GivenFlag? {
    /// `--slots 4`.
    init(_ setting: DeclaredSetting, _ valueName: String? = nil) {
        self.init(name: setting.flagName, help: setting.help(valueName), transform: setting.given)
    }
}

extension Option where Value == [GivenFlag] {
    /// `--readable FOLDER`, which may be repeated.
    init(wrappedValue: [GivenFlag], _ setting: DeclaredSetting, _ valueName: String? = nil) {
        self.init(
            wrappedValue: wrappedValue, name: setting.flagName, help: setting.help(valueName),
            transform: setting.given)
    }

    /// `--limit memory=4GiB`, which may be repeated: one flag for several settings.
    init(wrappedValue: [GivenFlag], membersOf flag: String, _ summary: String) {
        self.init(
            wrappedValue: wrappedValue, name: .customLong(flag),
            help: ArgumentHelp("\(summary)", valueName: "name=value"),
            transform: { try SettingMember.given($0, of: flag) })
    }
}

extension Flag where Value == Bool? {
    /// `--proofs` and `--no-proofs`.
    init(_ setting: DeclaredSetting) {
        self.init(name: setting.flagName, inversion: .prefixedNo, help: setting.help())
    }
}

extension Flag where Value == Bool {
    /// `--notes`.
    init(wrappedValue: Bool, _ setting: DeclaredSetting) {
        self.init(
            wrappedValue: wrappedValue, name: setting.flagName,
            help: ArgumentHelp("\(setting.setting.summary)"))
    }
}

/// Reads `memory=4GiB` as one of the settings of such a flag.
private enum SettingMember {
    static func given(_ text: String, of flag: String) throws -> GivenFlag {
        let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 2, let name = parts.first, !name.isEmpty else {
            throw ValidationError("--\(flag) takes name=value, not \"\(text.prefix(100))\"")
        }
        let table = DeclaredSettings.table
        guard let setting = table.member(of: flag, named: name) else {
            throw ValidationError(
                "--\(flag) has no \"\(name.prefix(100))\"; there are \(table.members(of: flag).joined(separator: ", "))"
            )
        }
        do throws(SettingMistake) { return try GivenFlag(setting, parts[1]) } catch {
            throw ValidationError("--\(flag) \(name)\(error.description)")
        }
    }
}
