import Configuration
import Results
import Synchronization

/// A setting as it was given on the command line: `--slots 4`.
public struct GivenFlag: Sendable, Equatable {
    public var setting: Setting
    public var text: String

    /// - Throws: ``SettingMistake`` if the setting does not allow the value.
    public init(_ setting: Setting, _ text: String) throws(SettingMistake) {
        _ = try setting.read([text], isFlag: true)
        (self.setting, self.text) = (setting, text)
    }

    /// `--notes`, and `--no-proofs` where `isOn` is false.
    public init(_ setting: Setting, isOn: Bool) { (self.setting, text) = (setting, isOn ? "true" : "false") }

    /// The flag as it is typed: `--slots 4`, `--limit memory=4GiB`, `--no-proofs`.
    public var typed: String {
        switch setting.flag {
        case .option(let name): "--\(name) \(text)"
        case .member(let name, let part): "--\(name) \(part)=\(text)"
        case .toggle(let name): "--\(name)"
        case .inverted(let name): text == "true" ? "--\(name)" : "--no-\(name)"
        case nil: setting.key
        }
    }

    public static func == (one: GivenFlag, two: GivenFlag) -> Bool {
        one.setting.key == two.setting.key && one.text == two.text
    }
}

/// Decides which value each setting has: a flag wins over the environment, the environment over the file.
///
/// swift-configuration implements the order and the names of variables, and tells which source answered. This type
/// checks the values, so that all mistakes are reported at once and with their lines.
public struct SettingsResolver: Sendable {
    private let table: SettingsTable
    private let environment: [String: String]
    private let document: SettingsDocument?
    private let flags: [String: [String]]

    /// - Parameters:
    ///   - document: Nil if there is no file.
    ///   - environment: All variables. Variables that are not pipectl's are ignored.
    public init(
        table: SettingsTable, document: SettingsDocument?, environment: [String: String], flags: [GivenFlag]
    ) {
        self.table = table
        self.document = document
        self.environment = environment.filter { $0.key.hasPrefix(SettingsTable.environmentPrefix) }
        self.flags = Dictionary(grouping: flags, by: \.setting.key).mapValues { $0.map(\.text) }
    }

    /// - Throws: ``SettingsError`` with every mistake that was found.
    public func resolve() throws(SettingsError) -> ResolvedSettings {
        var resolved = ResolvedSettings(table: table)
        var problems = document?.problems ?? []
        problems += misspelledVariables()
        var general = Layers(flags: provider(.flag, flags), environment: environment, own: nil, file: fileProvider())
        for setting in table.settings {
            guard let found = general.look(up: setting) else { continue }
            take(setting, found, document?.entries[setting.key]?.line, setting.key, &problems) {
                resolved.entries[setting.key] = $0
            }
        }
        for repository in document?.repositories ?? [] {
            var own = general.with(provider(.repository, repository.entries.mapValues(\.texts)))
            var result = ResolvedSettings.Repository(
                name: repository.name, location: repository.location, source: source(.file, line: repository.line),
                entries: [:])
            for setting in table.ofRepositories {
                guard let found = own.look(up: setting) else { continue }
                guard found.layer == .repository else {
                    result.entries[setting.key] = resolved.entries[setting.key]
                    continue
                }
                let key = "\(SettingsTable.repositories).\(repository.name).\(setting.name)"
                take(setting, found, repository.entries[setting.key]?.line, key, &problems) {
                    result.entries[setting.key] = $0
                }
            }
            if let first = resolved.repositories.first(where: { $0.location == repository.location }),
                !repository.location.isEmpty
            {
                problems.append(
                    .init(
                        code: .wrongValue, name: "\(SettingsTable.repositories).\(repository.name)",
                        line: repository.line,
                        sentence: "\"\(repository.name)\" has the same location as \"\(first.name)\". Remove one."))
            }
            resolved.repositories.append(result)
        }
        // Problems of the file in the order of its lines, then those of the environment.
        problems.sort { ($0.line ?? .max, $0.name) < ($1.line ?? .max, $1.name) }
        guard problems.isEmpty else { throw SettingsError(problems, file: document?.path) }
        return resolved
    }

    private func take(
        _ setting: Setting, _ found: Layers.Found, _ line: Int?, _ key: String, _ problems: inout [SettingsProblem],
        _ keep: (ResolvedSettings.Entry) -> Void
    ) {
        let isFile = found.layer == .file || found.layer == .repository
        let source =
            switch found.layer {
            case .flag: SettingSource(kind: .flag, name: setting.flag.map { "--\($0.name)" })
            case .environment: SettingSource(kind: .environment, name: setting.environmentName)
            case .file, .repository: source(.file, line: line)
            }
        do throws(SettingMistake) {
            keep(.init(value: try setting.read(found.texts, isFlag: found.layer == .flag), source: source))
        } catch {
            let name = isFile ? key : source.name ?? key
            problems.append(
                .init(
                    code: .wrongValue, name: name, line: isFile ? line : nil,
                    sentence: "\(isFile ? "\"\(name)\"" : name)\(error.description)"))
        }
    }

    private func source(_ kind: SettingSource.Kind, line: Int?) -> SettingSource {
        SettingSource(kind: kind, file: document?.path, line: line)
    }

    /// Reports variables whose name is almost that of a setting: without this they would be ignored silently.
    private func misspelledVariables() -> [SettingsProblem] {
        let prefix = SettingsTable.environmentPrefix
        let known = table.settings.map(\.environmentName)
        let names = Set(known)
        return environment.keys.sorted().compactMap { name in
            guard !names.contains(name),
                let near = NameSuggestion.nearest(
                    to: String(name.dropFirst(prefix.count)), among: known.map { String($0.dropFirst(prefix.count)) })
            else { return nil }
            return .init(
                code: .unknownKey, name: name, line: nil,
                sentence: "The environment variable \(name) is not a setting. Did you mean \(prefix)\(near)?")
        }
    }

    private func fileProvider() -> InMemoryProvider {
        provider(.file, document?.entries.mapValues(\.texts) ?? [:])
    }

    private func provider(_ layer: Layers.Layer, _ texts: [String: [String]]) -> InMemoryProvider {
        var values: [AbsoluteConfigKey: ConfigValue] = [:]
        for (key, texts) in texts {
            guard let setting = table[key] else { continue }
            let content: ConfigContent =
                setting.kind.isList ? .stringArray(texts) : .string(texts.last ?? "")
            values[Layers.key(setting)] = ConfigValue(content, isSecret: setting.isPrivate)
        }
        return InMemoryProvider(name: layer.rawValue, values: values)
    }
}

/// The sources of values, in their order.
private struct Layers {
    enum Layer: String {
        case flag, environment, repository, file
    }

    struct Found {
        var texts: [String]
        var layer: Layer
    }

    private let flags: InMemoryProvider
    private let variables: EnvironmentVariablesProvider
    private let file: InMemoryProvider
    private let reader: ConfigReader
    private let answers: AnswerRecorder
    private let layers: [String: Layer]

    init(flags: InMemoryProvider, environment: [String: String], own: InMemoryProvider?, file: InMemoryProvider) {
        self.init(flags, EnvironmentVariablesProvider(environmentVariables: environment), own, file)
    }

    private init(
        _ flags: InMemoryProvider, _ variables: EnvironmentVariablesProvider, _ own: InMemoryProvider?,
        _ file: InMemoryProvider
    ) {
        (self.flags, self.variables, self.file) = (flags, variables, file)
        answers = AnswerRecorder()
        var providers: [any ConfigProvider] = [flags, variables, file]
        var layers = [
            flags.providerName: Layer.flag, variables.providerName: .environment, file.providerName: .file,
        ]
        if let own {
            providers.insert(own, at: 2)
            layers[own.providerName] = .repository
        }
        self.layers = layers
        reader = ConfigReader(providers: providers, accessReporter: answers)
    }

    /// These layers with a repository's own values before those of the file.
    func with(_ own: InMemoryProvider) -> Layers { Layers(flags, variables, own, file) }

    static func key(_ setting: Setting) -> AbsoluteConfigKey { AbsoluteConfigKey(components(setting)) }

    /// The key's parts after the prefix that all variables have.
    private static func components(_ setting: Setting) -> [String] {
        ["pipectl"] + setting.key.split(separator: ".").map(String.init)
    }

    /// The value of the first source that has the setting; nil if none has it.
    mutating func look(up setting: Setting) -> Found? {
        let key = ConfigKey(Self.components(setting))
        let texts: [String]?
        if setting.kind.isList {
            texts = reader.stringArray(forKey: key, isSecret: setting.isPrivate)
        } else {
            texts = reader.string(forKey: key, isSecret: setting.isPrivate).map { [$0] }
        }
        guard let texts, let layer = answers.provider.flatMap({ layers[$0] }) else { return nil }
        // An empty variable is an empty list.
        return Found(texts: setting.kind.isList && texts == [""] ? [] : texts, layer: layer)
    }
}

/// Remembers which source gave the last answer.
private final class AnswerRecorder: AccessReporter {
    private let last = Mutex<String?>(nil)

    var provider: String? { last.withLock(\.self) }

    func report(_ event: AccessEvent) {
        let answer = event.providerResults.first {
            if case .success(let found) = $0.result { found.value != nil } else { false }
        }
        last.withLock { $0 = answer?.providerName }
    }
}
