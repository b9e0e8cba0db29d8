@testable import Settings

/// A small table with a setting of each kind.
let table = SettingsTable([
    Setting(
        "slots", .whole(1...1024), standard: nil, note: "the number of processors", flag: .option("slots"), "Steps."),
    Setting(
        "grace", .duration(.zero ... .seconds(3_600)), standard: .duration(.seconds(10)), flag: .option("grace"),
        bare: .time(.seconds), "Time."),
    Setting(
        "logLimit", .size(1 << 20...1 << 40), standard: .size(16 << 20), flag: .option("log-limit"),
        bare: .size(.mebibytes), "Size."),
    Setting(
        "limits.step.memory", .size(0...1 << 40), standard: nil, flag: .member(of: "limit", name: "memory"), "Memory."),
    Setting("proofs.sampling", .share, standard: .share(0.02), "Share."),
    Setting("notes", .flag, standard: .flag(false), flag: .toggle("notes"), "Notes."),
    Setting("notify.url", .text, standard: nil, isPrivate: true, "URL."),
    Setting(
        "watch.changes", .list, standard: .list([]), flag: .option("changes"), isPerRepository: true, "Globs.",
        check: { $0.contains("[") ? "brackets are not closed." : nil }),
    Setting("watch.target", .text, standard: nil, flag: .option("target"), isPerRepository: true, "Target."),
    Setting("resources", .counts, standard: .counts([:]), flag: .option("resource"), "Capacities."),
])

func document(_ text: String) throws -> SettingsDocument {
    try SettingsDocument(Array(text.utf8), path: "/box/config.json", table: table)
}

func resolve(
    _ text: String = "{}", environment: [String: String] = [:], flags: [(String, String)] = []
) throws -> ResolvedSettings {
    let given = try flags.map { key, value in
        guard let setting = table[key] else { throw UnknownKey(key: key) }
        return try GivenFlag(setting, value)
    }
    return try SettingsResolver(table: table, document: document(text), environment: environment, flags: given)
        .resolve()
}

struct UnknownKey: Error {
    var key: String
}

/// The problems, as codes with the names that they are about.
func problems(_ text: String, environment: [String: String] = [:]) -> [String] {
    do {
        _ = try resolve(text, environment: environment)
        return []
    } catch let error as SettingsError {
        return error.problems.map { "\($0.code) \($0.name)\($0.line.map { ":\($0)" } ?? "")" }
    } catch {
        return ["\(error)"]
    }
}
