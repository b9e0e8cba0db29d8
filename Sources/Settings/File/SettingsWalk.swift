import Results

/// One walk through a settings file. It collects the settings, and reports everything else.
struct SettingsWalk {
    let table: SettingsTable
    private(set) var entries: [String: SettingsDocument.Entry] = [:]
    private(set) var repositories: [SettingsDocument.Repository] = []
    private(set) var problems: [SettingsProblem] = []

    init(table: SettingsTable) { self.table = table }

    /// The members of an object whose key is `key`; empty for the file itself.
    mutating func group(_ members: [JSONNode.Member], key: String) {
        for member in unique(members, in: key) {
            let own = key.isEmpty ? member.name : "\(key).\(member.name)"
            if key.isEmpty && member.name == SettingsTable.repositories {
                readRepositories(member)
            } else if member.name.isEmpty || member.name.contains(".") {
                report(
                    .unknownKey, own, member.line,
                    "is not a setting. In names, a dot stands for an object: {\"limits\": {\"run\": {\"memory\": …}}}.")
            } else if let setting = table[own] {
                if let texts = texts(member.value, of: setting, named: own) {
                    entries[own] = .init(texts: texts, line: member.line)
                }
            } else if let names = table.names(in: own) {
                guard case .object(let members) = member.value.kind else {
                    report(
                        .wrongType, own, member.line,
                        "is \(member.value.title). It needs an object with \(Self.list(names)).")
                    continue
                }
                group(members, key: own)
            } else {
                unknown(own, member.line, name: member.name, among: table.names(in: key) ?? [], prefix: key)
            }
        }
    }

    private mutating func readRepositories(_ member: JSONNode.Member) {
        guard case .object(let members) = member.value.kind else {
            return report(
                .wrongType, member.name, member.line,
                "is \(member.value.title). It needs an object: {\"NAME\": {\"location\": \"PATH or URL\"}}.")
        }
        for repository in unique(members, in: member.name) {
            let key = "\(member.name).\(repository.name)"
            guard Self.isName(repository.name) else {
                report(
                    .wrongValue, key, repository.line,
                    "is not a name for a repository. Use up to 100 letters, digits, \"-\", \"_\" and \".\", and no \".\" first."
                )
                continue
            }
            guard case .object(let members) = repository.value.kind else {
                report(
                    .wrongType, key, repository.line,
                    "is \(repository.value.title). It needs an object: {\"location\": \"PATH or URL\"}.")
                continue
            }
            readRepository(repository, members, key)
        }
    }

    private mutating func readRepository(_ member: JSONNode.Member, _ members: [JSONNode.Member], _ key: String) {
        var found = SettingsDocument.Repository(name: member.name, location: "", line: member.line, entries: [:])
        var hasLocation = false
        for part in unique(members, in: key) {
            let own = "\(key).\(part.name)"
            if part.name == SettingsTable.location {
                hasLocation = true
                if case .string(let text) = part.value.kind, !text.isEmpty, !text.unicodeScalars.contains("\0") {
                    found.location = text
                } else {
                    report(.wrongType, own, part.line, "is \(part.value.title). It needs a path or URL in quotes.")
                }
            } else if let setting = table.ofRepositories.first(where: { $0.name == part.name }) {
                if let texts = texts(part.value, of: setting, named: own) {
                    found.entries[setting.key] = .init(texts: texts, line: part.line)
                }
            } else {
                let names = [SettingsTable.location] + table.ofRepositories.map(\.name)
                unknown(own, part.line, name: part.name, among: names, prefix: key)
            }
        }
        if !hasLocation {
            report(
                .missingKey, key, member.line,
                "has no \"location\". Add the path or URL: \"location\": \"/srv/git/x.git\".")
        }
        repositories.append(found)
    }

    private static func isName(_ name: String) -> Bool {
        !name.isEmpty && name.count <= 100 && !name.hasPrefix(".")
            && name.allSatisfy { $0.isLetter || $0.isNumber || "-_.".contains($0) }
    }

    /// The value as texts; nil, and reported, if it has another type.
    private mutating func texts(_ node: JSONNode, of setting: Setting, named key: String) -> [String]? {
        switch (setting.kind, node.kind) {
        case (.flag, .flag(let value)): return [value ? "true" : "false"]
        case (.whole, .number(let text)), (.share, .number(let text)): return [text]
        case (.duration, .number("0")), (.size, .number("0")): return ["0"]
        case (.duration, .string(let text)), (.size, .string(let text)), (.text, .string(let text)): return [text]
        case (.list, .array(let items)):
            let texts = items.compactMap { if case .string(let text) = $0.kind { text } else { nil } }
            if texts.count == items.count { return texts }
        case (.counts, .object(let members)):
            return counts(unique(members, in: key), key)
        default: break
        }
        var hint = ""
        if case .number(let digits) = node.kind {
            switch setting.kind {
            case .duration: hint = " A number has no unit: \"\(digits.shortened(to: 20))s\" is seconds."
            case .size: hint = " A number has no unit: \"\(digits.shortened(to: 20))MiB\" is mebibytes."
            default: break
            }
        }
        let value = setting.kind == .list && node.title == "a list" ? "a list of other things than texts" : node.title
        report(.wrongType, key, node.line, "is \(value). It needs \(setting.kind.example).\(hint)")
        return nil
    }

    private mutating func counts(_ members: [JSONNode.Member], _ key: String) -> [String]? {
        var texts: [String] = []
        for member in members {
            guard case .number(let text) = member.value.kind, !member.name.isEmpty, !member.name.contains("=") else {
                report(
                    .wrongType, "\(key).\(member.name)", member.line,
                    "is \(member.value.title). It needs a number from 1, and a name without \"=\".")
                return nil
            }
            texts.append("\(member.name)=\(text)")
        }
        return texts
    }

    /// The members with each name once; a repeated name is reported.
    private mutating func unique(_ members: [JSONNode.Member], in key: String) -> [JSONNode.Member] {
        var lines: [String: Int] = [:]
        return members.filter { member in
            guard let first = lines[member.name] else {
                lines[member.name] = member.line
                return true
            }
            let own = key.isEmpty ? member.name : "\(key).\(member.name)"
            report(.duplicateKey, own, member.line, "is there twice, first in line \(first). Remove one.")
            return false
        }
    }

    private mutating func unknown(
        _ key: String, _ line: Int, name: String, among names: [String], prefix: String
    ) {
        var sentence = "is not a setting."
        // With so many wrong names the file has another mistake, and each suggestion compares with all names.
        guard problems.count < 50 else { return report(.unknownKey, key, line, sentence) }
        let keys = table.settings.map(\.key)
        if let near = NameSuggestion.nearest(to: name, among: names) {
            sentence += " Did you mean \"\(prefix.isEmpty ? near : "\(prefix).\(near)")\"?"
        } else if let near = keys.first(where: { $0.hasSuffix(".\(name)") })
            ?? NameSuggestion.nearest(to: key, among: keys)
        {
            sentence += " Did you mean \"\(near)\"?"
        } else {
            sentence += " \(prefix.isEmpty ? "There are" : "\"\(prefix)\" has") \(Self.list(names))."
        }
        report(.unknownKey, key, line, sentence)
    }

    private mutating func report(_ code: SettingsProblem.Code, _ key: String, _ line: Int, _ rest: String) {
        problems.append(.init(code: code, name: key, line: line, sentence: "\"\(key.shortened(to: 200))\" \(rest)"))
    }

    private static func list(_ names: [String]) -> String { names.joined(separator: ", ") }
}
