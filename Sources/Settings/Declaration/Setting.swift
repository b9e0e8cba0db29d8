/// One setting of the box: everything that reading, help and documentation have to know of it.
public struct Setting: Sendable {
    /// How a setting is given on the command line.
    public enum Flag: Sendable, Equatable {
        /// `--slots 4`; may be repeated for lists.
        case option(String)
        /// `--limit memory=4GiB`: one of several settings behind one flag.
        case member(of: String, name: String)
        /// `--notes`.
        case toggle(String)
        /// `--proofs` and `--no-proofs`.
        case inverted(String)

        /// As it is typed: `--limit memory=…`.
        public var text: String {
            switch self {
            case .option(let name), .toggle(let name): "--\(name)"
            case .member(let name, let part): "--\(name) \(part)=…"
            case .inverted(let name): "--\(name), --no-\(name)"
            }
        }

        /// Without the value's name and dashes.
        public var name: String {
            switch self {
            case .option(let name), .toggle(let name), .inverted(let name), .member(let name, _): name
            }
        }
    }

    /// The unit that a flag's number without a unit has had since before there were units.
    public enum BareUnit: Sendable, Equatable {
        case time(DurationText.Unit)
        case size(SizeText.Unit)
    }

    /// Where it stands in a file, with a dot for each object: `limits.step.memory`.
    public let key: String
    public let kind: SettingKind
    /// What holds when nothing is set; nil: see ``standardNote``.
    public let standard: SettingValue?
    /// The default in words, where it is not a value: `the number of processors`.
    public let standardNote: String?
    public let flag: Flag?
    public let bareUnit: BareUnit?
    /// A sentence.
    public let summary: String
    /// Whether a watched repository can have a value of its own.
    public let isPerRepository: Bool
    /// Whether the value may contain what not everybody is to read, as a URL with a token: it is not shown whole.
    public let isPrivate: Bool
    /// What else is wrong with a single text; nil for nothing.
    public let check: (@Sendable (String) -> String?)?

    public init(
        _ key: String, _ kind: SettingKind, standard: SettingValue?, note: String? = nil, flag: Flag? = nil,
        bare: BareUnit? = nil, isPerRepository: Bool = false, isPrivate: Bool = false, _ summary: String,
        check: (@Sendable (String) -> String?)? = nil
    ) {
        (self.key, self.kind, self.standard, standardNote) = (key, kind, standard, note)
        (self.flag, bareUnit, self.summary) = (flag, bare, summary)
        (self.isPerRepository, self.isPrivate, self.check) = (isPerRepository, isPrivate, check)
    }

    /// The last part of the key: its name within its object.
    public var name: String { key.split(separator: ".").last.map(String.init) ?? key }

    /// `PIPECTL_LIMITS_STEP_MEMORY`: the key's words in capitals, as swift-configuration makes it of the key.
    public var environmentName: String {
        var name = SettingsTable.environmentPrefix
        var last: Character = "."
        for character in key {
            if character.isUppercase && last.isLowercase { name.append("_") }
            name.append(character == "." ? "_" : character.uppercased())
            last = character
        }
        return name
    }

    /// The default in words.
    public var standardText: String {
        if let standardNote { return standardNote }
        guard let standard, !standard.text.isEmpty else { return "none" }
        return standard.text
    }

    /// The value as it may be shown: of a private one the scheme and host at most.
    public func shown(_ value: SettingValue) -> SettingValue {
        guard isPrivate, case .text(let text) = value else { return value }
        guard let start = text.firstRange(of: "://") else { return .text("(set)") }
        let host = text[start.upperBound...].prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        return .text("\(text[..<start.upperBound])\(host.split(separator: "@").last ?? "")/…")
    }

    /// Reads the value from texts: one, or as many as a list has.
    ///
    /// - Parameter isFlag: Whether it was typed on the command line, where some numbers need no unit.
    /// - Throws: ``SettingMistake`` with what is allowed.
    public func read(_ texts: [String], isFlag: Bool = false) throws(SettingMistake) -> SettingValue {
        switch kind {
        case .list:
            for text in texts { try checked(text) }
            return .list(texts)
        case .counts: return .counts(try counts(texts))
        default: break
        }
        guard texts.count == 1, let text = texts.first else { throw mistake(" takes one value, not \(texts.count).") }
        try checked(text)
        do throws(QuantityProblem) {
            switch kind {
            case .duration(let range):
                var unit: DurationText.Unit?
                if isFlag, case .time(let bare) = bareUnit { unit = bare }
                let value = try DurationText.read(text, bare: unit)
                if range.contains(value) { return .duration(value) }
            case .size(let range):
                var unit: SizeText.Unit?
                if isFlag, case .size(let bare) = bareUnit { unit = bare }
                let value = try SizeText.read(text, bare: unit)
                if range.contains(value) { return .size(value) }
            case .whole(let range):
                if let value = Int(text), range.contains(value) { return .whole(value) }
            case .share:
                if let value = Double(text), value >= 0, value <= 1 { return .share(value) }
            case .flag:
                if let value = ["true": true, "false": false][text] { return .flag(value) }
            case .text: return .text(text)
            case .list, .counts: break
            }
        } catch { throw mistake(": \(error.description)\(allowed)") }
        throw mistake(" is \"\(text.shortened(to: 100))\".\(allowed)")
    }

    private var allowed: String {
        if let range = kind.range { return " Allowed: \(range)." }
        return kind == .flag ? " Allowed: true or false." : ""
    }

    private func mistake(_ rest: String) -> SettingMistake { SettingMistake(rest) }

    private func checked(_ text: String) throws(SettingMistake) {
        guard !text.isEmpty else { throw SettingMistake(" is empty. Leave it out, or write \(kind.example).") }
        guard text.utf8.count <= 4_096 else { throw SettingMistake(" is longer than 4096 bytes.") }
        // A command line may have several lines.
        guard !text.unicodeScalars.contains(where: { $0.value < 0x20 && $0 != "\n" && $0 != "\t" || $0.value == 0x7F })
        else {
            throw SettingMistake(" has a control character in it.")
        }
        if let wrong = check?(text) { throw SettingMistake(" is \"\(text.shortened(to: 200))\": \(wrong)") }
    }

    private func counts(_ texts: [String]) throws(SettingMistake) -> [String: Int] {
        var counts: [String: Int] = [:]
        for text in texts {
            let parts = text.split(separator: "=", maxSplits: 1).map(String.init)
            guard parts.count == 2, let count = Int(parts[1]), count > 0 else {
                throw SettingMistake(" is \"\(text.shortened(to: 100))\". Write name=count with a count from 1.")
            }
            try checked(parts[0])
            guard counts.updateValue(count, forKey: parts[0]) == nil else {
                throw SettingMistake(" has \"\(parts[0].shortened(to: 100))\" twice. Leave one out.")
            }
        }
        return counts
    }
}

/// What is wrong with a value: the end of a sentence that the setting's name begins.
public struct SettingMistake: Error, Sendable, Equatable, CustomStringConvertible {
    public var description: String

    init(_ description: String) { self.description = description }
}
