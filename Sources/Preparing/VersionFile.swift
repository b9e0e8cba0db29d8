import Foundation

/// Reads the version of a product in the file that names it.
enum VersionFile {
    /// The version in a file with this path; nil if it names none.
    static func version(in bytes: [UInt8], named path: String) -> String? {
        let text = String(decoding: bytes, as: UTF8.self)
        switch path.split(separator: ".").last {
        case "swift": return declaredVersion(in: text)
        case "toml": return tableVersion(in: text)
        case "plist": return plistVersion(in: Data(bytes))
        case "json": return (try? JSONDecoder().decode(NamedVersion.self, from: Data(bytes)))?.version
        default:
            return text.split(whereSeparator: \.isNewline).first.map { $0.trimmingCharacters(in: .whitespaces) }
        }
    }

    private struct NamedVersion: Decodable { var version: String }

    /// The string of the first line such as `let version = "1.2.0"`.
    private static func declaredVersion(in text: String) -> String? {
        for line in text.split(whereSeparator: \.isNewline) {
            let line = line.trimmingCharacters(in: .whitespaces)
            guard !line.hasPrefix("//"),
                let match = line.firstMatch(of: /\b(?:let|var)\s+[vV]ersion\s*(?::\s*\w+\s*)?=\s*"([^"\\]+)"/)
            else { continue }
            return String(match.output.1)
        }
        return nil
    }

    /// The tables of a TOML file that name a version of the product, and no table, as in `gleam.toml` and Julia's
    /// `Project.toml`. Others may name those of dependencies and tools.
    private static let tables = ["package", "project", "tool.poetry", "workspace.package", ""]

    private static func tableVersion(in text: String) -> String? {
        // A text of several lines may look like a table.
        let text = text.replacing(/"""(?s:.*?)"""|'''(?s:.*?)'''/, with: "")
        func plain(_ name: Substring) -> String { name.filter { !" \t\"'".contains($0) } }
        var table = ""
        var found: [String: String] = [:]
        for line in text.split(whereSeparator: \.isNewline) {
            if let header = line.prefixMatch(of: /\s*(\[?)\[([^\[\],]+)\]/) {
                // One of several tables of a name is none of ours.
                table = header.1.isEmpty ? plain(header.2) : "[]"
            } else if let pair = line.prefixMatch(of: /\s*([\w.\-"' \t]+?)\s*=\s*(?:"([^"\\]+)"|'([^']+)')/) {
                let key = (table.isEmpty ? "" : "\(table).") + plain(pair.1)
                found[key] = found[key] ?? (pair.2 ?? pair.3).map(String.init)
            }
        }
        return tables.lazy.compactMap { found[$0.isEmpty ? "version" : "\($0).version"] }.first
    }

    private static func plistVersion(in data: Data) -> String? {
        let list = try? PropertyListSerialization.propertyList(from: data, format: nil) as? [String: Any]
        let version = list?["CFBundleShortVersionString"] as? String
        // Xcode fills in such a variable; the project file has its value.
        return version?.contains("$(") == true ? nil : version
    }
}
