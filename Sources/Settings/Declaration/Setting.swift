/// One setting: everything that the reader, the help and the documentation need to know about it.
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

    /// The unit of a flag's number that has none. Older versions of pipectl took such numbers, so they stay valid.
    public enum BareUnit: Sendable, Equatable {
        case time(DurationText.Unit)
        case size(SizeText.Unit)
    }

    /// The path in a file, with a dot for each object: `limits.step.memory`.
    public let key: String
    /// The type of its values.
    public let kind: SettingKind
    /// The default value. Nil if the default is not a fixed value: see ``standardNote``.
    public let standard: SettingValue?
    /// The default in words, where it is not a value: `the number of processors`.
    public let standardNote: String?
    /// The flag that sets it; nil if no flag does.
    public let flag: Flag?
    /// The unit of a flag's number that has none; nil if a unit is required.
    public let bareUnit: BareUnit?
    /// One sentence that says what the setting does.
    public let summary: String
    /// Whether a watched repository can have a value of its own.
    public let isPerRepository: Bool
    /// Whether the value may contain something confidential, such as a URL with a token. It is then never shown whole.
    public let isPrivate: Bool
    /// Checks a single text beyond its type; returns what is wrong, or nil.
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

    /// `PIPECTL_LIMITS_STEP_MEMORY`: the key's words in capitals, the same as swift-configuration derives from the key.
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

    /// The value as it may be shown: of a confidential one at most the scheme and host.
    public func shown(_ value: SettingValue) -> SettingValue {
        guard isPrivate, case .text(let text) = value else { return value }
        guard let start = text.firstRange(of: "://") else { return .text("(set)") }
        let host = text[start.upperBound...].prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        return .text("\(text[..<start.upperBound])\(host.split(separator: "@").last ?? "")/…")
    }

    /// Reads the value from texts: a single one, or the elements of a list.
    ///
    /// - Parameter isFlag: Whether it comes from the command line, where some numbers need no unit.
    /// - Throws: ``SettingMistake``, which says what is allowed.
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
        // A setting that is a command line may contain line breaks.
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

/// What is wrong with a value, as the end of a sentence that begins with the setting's name.
public struct SettingMistake: Error, Sendable, Equatable, CustomStringConvertible {
    public var description: String

    init(_ description: String) { self.description = description }
}
