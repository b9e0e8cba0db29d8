import Settings

/// The tables of docs/settings.md.
package enum SettingsReference {
    /// One table for each first component of the keys, in the order of ``DeclaredSettings/all``.
    package static var markdown: String {
        var groups: [(name: String, settings: [Setting])] = []
        for setting in DeclaredSettings.table.settings {
            let parts = setting.key.split(separator: ".").map(String.init)
            let name = parts.count > 1 ? parts.dropLast().joined(separator: ".") : ""
            if let index = groups.firstIndex(where: { $0.name == name }) {
                groups[index].settings.append(setting)
            } else {
                groups.append((name, [setting]))
            }
        }
        return groups.map { table($0.name, $0.settings) }.joined(separator: "\n")
    }

    private static func table(_ name: String, _ settings: [Setting]) -> String {
        var lines = [
            name.isEmpty ? "### General" : "### `\(name)`", "",
            "| key | type | default | range | flag | environment | |", "| --- | --- | --- | --- | --- | --- | --- |",
        ]
        for setting in settings {
            let cells = [
                "`\(setting.name)`", setting.kind.title + (setting.isPerRepository ? ", also of a repository" : ""),
                setting.standardText, setting.kind.range ?? "",
                setting.flag.map { "`\($0.text)`" } ?? "", "`\(setting.environmentName)`",
                setting.summary.replacing("|", with: "\\|"),
            ]
            lines.append("| \(cells.joined(separator: " | ")) |".replacing("|  |", with: "| |"))
        }
        return lines.joined(separator: "\n") + "\n"
    }
}
