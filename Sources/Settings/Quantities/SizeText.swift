/// Reads and writes numbers of bytes as people type them: `500B`, `64KiB`, `16MiB`, `10GiB`, `2TiB`.
public enum SizeText {
    /// A unit, each 1,024 times the one before.
    public enum Unit: String, CaseIterable, Sendable {
        case bytes = "B"
        case kibibytes = "KiB"
        case mebibytes = "MiB"
        case gibibytes = "GiB"
        case tebibytes = "TiB"

        var bytes: Int {
            switch self {
            case .bytes: 1
            case .kibibytes: 1 << 10
            case .mebibytes: 1 << 20
            case .gibibytes: 1 << 30
            case .tebibytes: 1 << 40
            }
        }
    }

    /// 8 PiB: up to here a Double counts single bytes.
    private static let most = Double(1 << 53)

    /// Reads one number and its unit as bytes. `0` needs no unit.
    ///
    /// - Parameter bare: The unit of a number without one; nil refuses such a number.
    public static func read(_ text: String, bare: Unit? = nil) throws(QuantityProblem) -> Int {
        let parts = try NumberAndUnit(text)
        let unit: Unit
        if let known = Unit(rawValue: String(parts.unit)) {
            unit = known
        } else if parts.unit.isEmpty, let bare = bare ?? (parts.number == 0 ? .bytes : nil) {
            unit = bare
        } else if parts.unit.isEmpty {
            let digits = parts.digits
            throw QuantityProblem(
                code: .noUnit, description: "\"\(digits)\" has no unit. Write \(digits)MiB or \(digits)GiB.")
        } else {
            throw QuantityProblem(
                code: .unknownUnit,
                description:
                    "\"\(text.shortened(to: 40))\" has an unknown unit. Units of size are B, KiB, MiB, GiB and TiB.")
        }
        let bytes = (parts.number * Double(unit.bytes)).rounded()
        guard bytes <= most else {
            throw QuantityProblem(code: .tooLarge, description: "\"\(text.shortened(to: 40))\" is too large.")
        }
        return Int(bytes)
    }

    /// The shortest exact text: `10GiB`, `1500B`.
    public static func text(_ bytes: Int) -> String {
        for unit in Unit.allCases.reversed() where bytes != 0 && bytes.isMultiple(of: unit.bytes) {
            return "\(bytes / unit.bytes)\(unit.rawValue)"
        }
        return "\(bytes)B"
    }
}
