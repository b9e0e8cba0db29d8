/// Where a value comes from.
public struct SettingSource: Sendable, Equatable, Codable {
    public enum Kind: String, Sendable, Codable {
        case standard = "default"
        case file
        case environment
        case flag
    }

    public var kind: Kind
    /// The file's path; nil for other kinds.
    public var file: String?
    /// The line in the file, from 1.
    public var line: Int?
    /// The environment variable, or the flag with its dashes.
    public var name: String?

    static let standard = SettingSource(kind: .standard)

    public init(kind: Kind, file: String? = nil, line: Int? = nil, name: String? = nil) {
        (self.kind, self.file, self.line, self.name) = (kind, file, line, name)
    }

    /// One word or place: `default`, `/etc/pipectl.json:3`, `PIPECTL_SLOTS`, `--slots`.
    public var text: String {
        switch kind {
        case .standard: "default"
        case .file: "\(file ?? "file")\(line.map { ":\($0)" } ?? "")"
        case .environment, .flag: name ?? kind.rawValue
        }
    }
}

/// One value as it is shown, with its source.
public struct SettingRecord: Sendable, Equatable, Codable {
    public var key: String
    /// Nil if nothing is set and the default is not a fixed value.
    public var value: SettingValue?
    /// The default in words.
    public var standard: String
    public var source: SettingSource

    public init(key: String, value: SettingValue?, standard: String, source: SettingSource) {
        (self.key, self.value, self.standard, self.source) = (key, value, standard, source)
    }

    enum CodingKeys: String, CodingKey {
        case key, value, source
        case standard = "default"
    }

    /// The value in words.
    public var text: String { value.map { $0.text.isEmpty ? "none" : $0.text } ?? standard }
}
