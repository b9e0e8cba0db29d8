import Foundation

/// Reads the version of a product in the file that names it.
enum VersionFile {
    /// The version in a file with this path; nil if it names none.
    ///
    /// - Throws: ``VersionProblem`` if it names several, or leaves it to another file.
    static func version(in bytes: [UInt8], named path: String) throws -> String? {
        let text = String(decoding: bytes, as: UTF8.self)
        switch path.split(separator: ".").last {
        case "swift": return declaredVersion(in: text)
        case "toml": return tableVersion(in: text)
        case "plist": return try plistVersion(in: Data(bytes), named: path)
        case "pbxproj", "xcconfig": return try settingVersion(in: text, named: path)
        case "json": return (try? JSONDecoder().decode(NamedVersion.self, from: Data(bytes)))?.version
        default:
            return text.split(whereSeparator: \.isNewline).first.map { $0.trimmingCharacters(in: .whitespaces) }
        }
    }

    private struct NamedVersion: Decodable { var version: String }

    /// The string of the first line such as `let version = "1.2.0"`.
    private static func declaredVersion(in text: String) -> String? {
        let declaration = /\b(?:let|var)\s+[vV]ersion\s*(?::\s*\w+\s*)?=\s*"([^"\\]+)"/
        for line in text.split(whereSeparator: \.isNewline) {
            let line = line.trimmingCharacters(in: .whitespaces)
            guard !line.hasPrefix("//"), let match = line.firstMatch(of: declaration) else { continue }
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
        let (heading, value) = (/\s*(\[?)\[([^\[\],]+)\]/, /\s*(?:"([^"\\]+)"|'([^']+)')/)
        var table = ""
        var found: [String: String] = [:]
        for line in text.split(whereSeparator: \.isNewline) {
            if let header = line.prefixMatch(of: heading) {
                // One of several tables of a name is none of ours.
                table = header.1.isEmpty ? plain(header.2) : "[]"
            } else if let equals = line.firstIndex(of: "="),
                let pair = line[line.index(after: equals)...].prefixMatch(of: value)
            {
                let key = (table.isEmpty ? "" : "\(table).") + plain(line[..<equals])
                found[key] = found[key] ?? (pair.1 ?? pair.2).map(String.init)
            }
        }
        return tables.lazy.compactMap { found[$0.isEmpty ? "version" : "\($0).version"] }.first
    }

    /// The value of `MARKETING_VERSION` in a file with settings of Xcode.
    private static func settingVersion(in text: String, named path: String) throws -> String? {
        let name = "MARKETING_VERSION"
        let pattern = /\s*"?MARKETING_VERSION(?:\[[^\]]*\])*"?\s*=\s*"?((?:(?!\/\/)[^";])*)/
        var values: [String] = []
        for line in text.split(whereSeparator: \.isNewline) where line.contains(name) {
            // As in MARKETING_VERSION[sdk=macosx*] = 1.4 // of all targets
            guard let value = line.prefixMatch(of: pattern)?.1.trimmingCharacters(in: .whitespaces), !value.isEmpty,
                !values.contains(value)
            else { continue }
            values.append(value)
        }
        guard values.count < 2 else {
            throw VersionProblem(
                "\(path) has several values of MARKETING_VERSION, \(values.prefix(5).joined(separator: " and ").prefix(100)): "
                    + "write the same for all targets and configurations")
        }
        if let value = values.first, isFilledIn(value) {
            throw VersionProblem(
                "MARKETING_VERSION in \(path) is made of another setting, \(value.prefix(100)): name the file that has "
                    + "its value")
        }
        return values.first
    }

    /// Whether Xcode fills in a value.
    private static func isFilledIn(_ value: String) -> Bool { value.contains("$(") || value.contains("${") }

    private static func plistVersion(in data: Data, named path: String) throws -> String? {
        let list = try? PropertyListSerialization.propertyList(from: data, format: nil) as? [String: Any]
        let version = list?["CFBundleShortVersionString"] as? String
        if let version, isFilledIn(version) {
            throw VersionProblem(
                "CFBundleShortVersionString in \(path) is \(version.prefix(100)), which Xcode fills in: name the project "
                    + "file or the .xcconfig file that has MARKETING_VERSION, as in "
                    + ".file(\"App.xcodeproj/project.pbxproj\")")
        }
        return version
    }
}
