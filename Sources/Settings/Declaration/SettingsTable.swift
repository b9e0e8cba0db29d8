/// All settings.
public struct SettingsTable: Sendable {
    static let environmentPrefix = "PIPECTL_"
    /// The key of the object that has settings of single repositories.
    static let repositories = "repositories"
    /// The key, in such an object, of the repository's path or URL.
    static let location = "location"

    /// The settings, in the order in which they are documented.
    public let settings: [Setting]
    private let byKey: [String: Setting]
    /// Keys of objects that hold settings, with the names in each; the empty key is the file itself.
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

    /// The setting with this key; nil if there is none.
    public subscript(key: String) -> Setting? { byKey[key] }

    /// The names that the object with this key may contain; nil if there is no such object.
    func names(in group: String) -> [String]? { groups[group] }

    /// The settings that a repository can have a value of its own for.
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
