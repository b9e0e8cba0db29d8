/// All settings that there are.
public struct SettingsTable: Sendable {
    static let environmentPrefix = "PIPECTL_"
    /// Where a file has the repositories with values of their own.
    static let repositories = "repositories"
    /// The path or URL of such a repository.
    static let location = "location"

    public let settings: [Setting]
    private let byKey: [String: Setting]
    /// Keys of objects that hold settings, with the names of what is in them; the empty key is the file itself.
    private let groups: [String: [String]]

    public init(_ settings: [Setting]) {
        self.settings = settings
        byKey = Dictionary(settings.map { ($0.key, $0) }) { first, _ in first }
        var groups: [String: [String]] = [:]
        for setting in settings {
            var parts = setting.key.split(separator: ".").map(String.init)
            while let name = parts.popLast() {
                let group = parts.joined(separator: ".")
                if groups[group]?.contains(name) != true { groups[group, default: []].append(name) }
            }
        }
        groups["", default: []].append(Self.repositories)
        self.groups = groups
    }

    public subscript(key: String) -> Setting? { byKey[key] }

    /// What may stand in the object with this key; nil if there is no such object.
    func names(in group: String) -> [String]? { groups[group] }

    /// The settings that a repository can have for itself.
    public var ofRepositories: [Setting] { settings.filter(\.isPerRepository) }

    /// The setting behind `--limit memory=…`; nil for a name that the flag does not have.
    public func member(of flag: String, named name: String) -> Setting? {
        settings.first { $0.flag == .member(of: flag, name: name) }
    }

    /// The names that `--limit` and its like take.
    public func members(of flag: String) -> [String] {
        settings.compactMap { if case .member(flag, let name) = $0.flag { name } else { nil } }
    }
}
