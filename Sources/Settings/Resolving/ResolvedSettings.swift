/// All settings with their values, and where each comes from.
public struct ResolvedSettings: Sendable {
    /// A value and its source.
    public struct Entry: Sendable, Equatable {
        public var value: SettingValue
        public var source: SettingSource
    }

    /// A repository from the file, with its own values.
    public struct Repository: Sendable {
        public var name: String
        /// A path or URL as it was written.
        public var location: String
        public var source: SettingSource
        /// By the key of the same setting for all repositories; only values that are set.
        public var entries: [String: Entry]

        public subscript(key: String) -> SettingValue? { entries[key]?.value }
    }

    let table: SettingsTable
    /// By key; only values that are set.
    public internal(set) var entries: [String: Entry] = [:]
    public internal(set) var repositories: [Repository] = []

    init(table: SettingsTable) { self.table = table }

    /// The value that was set; nil if the default applies.
    public subscript(key: String) -> SettingValue? { entries[key]?.value }

    /// The values to show: all settings in the table's order, then those of single repositories.
    public var records: [SettingRecord] {
        table.settings.map { record($0, $0.key, entries[$0.key]) }
            + repositories.flatMap { repository in
                let prefix = "\(SettingsTable.repositories).\(repository.name)"
                let location = SettingRecord(
                    key: "\(prefix).\(SettingsTable.location)", value: .text(Self.withoutUser(repository.location)),
                    standard: "none", source: repository.source)
                return [location]
                    + table.ofRepositories.compactMap { setting in
                        // A value that is the same as for all repositories is shown once.
                        guard let entry = repository.entries[setting.key], entry != entries[setting.key] else {
                            return nil
                        }
                        return record(setting, "\(prefix).\(setting.name)", entry)
                    }
            }
    }

    private func record(_ setting: Setting, _ key: String, _ entry: Entry?) -> SettingRecord {
        SettingRecord(
            key: key, value: (entry?.value ?? setting.standard).map(setting.shown), standard: setting.standardText,
            source: entry?.source ?? .standard)
    }

    /// `https://user:token@host/x` without the user and the token.
    package static func withoutUser(_ location: String) -> String {
        guard let scheme = location.firstRange(of: "://") else { return location }
        let rest = location[scheme.upperBound...]
        let host = rest.prefix { $0 != "/" }
        guard let at = host.lastIndex(of: "@") else { return location }
        return "\(location[..<scheme.upperBound])\(rest[rest.index(after: at)...])"
    }
}
