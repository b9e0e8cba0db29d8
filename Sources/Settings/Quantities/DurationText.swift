/// Reads and writes durations as people type them: `500ms`, `90s`, `15m`, `24h`, `2d`, `1w`.
public enum DurationText {
    /// A unit, and how many milliseconds it has.
    public enum Unit: String, CaseIterable, Sendable {
        case milliseconds = "ms"
        case seconds = "s"
        case minutes = "m"
        case hours = "h"
        case days = "d"
        case weeks = "w"

        var milliseconds: Double {
            switch self {
            case .milliseconds: 1
            case .seconds: 1_000
            case .minutes: 60_000
            case .hours: 3_600_000
            case .days: 86_400_000
            case .weeks: 604_800_000
            }
        }
    }

    /// In milliseconds, some 300 years: the range of a date.
    private static let most = 1e13

    /// Reads one number and its unit; fractions are rounded to milliseconds. `0` needs no unit.
    ///
    /// - Parameter bare: The unit of a number without one; nil refuses such a number.
    public static func read(_ text: String, bare: Unit? = nil) throws(QuantityProblem) -> Duration {
        let parts = try NumberAndUnit(text)
        let unit: Unit
        if let known = Unit(rawValue: String(parts.unit)) {
            unit = known
        } else if parts.unit.isEmpty, let bare = bare ?? (parts.number == 0 ? .seconds : nil) {
            unit = bare
        } else if parts.unit.isEmpty {
            let digits = parts.digits
            throw QuantityProblem(
                code: .noUnit, description: "\"\(digits)\" has no unit. Write \(digits)s, \(digits)m or \(digits)h.")
        } else {
            throw QuantityProblem(
                code: .unknownUnit,
                description:
                    "\"\(text.shortened(to: 40))\" has an unknown unit. Units of time are ms, s, m, h, d and w.")
        }
        let milliseconds = (parts.number * unit.milliseconds).rounded()
        guard milliseconds <= most else {
            throw QuantityProblem(code: .tooLarge, description: "\"\(text.shortened(to: 40))\" is too large.")
        }
        return .milliseconds(Int(milliseconds))
    }

    /// The shortest exact text for whole milliseconds: `90s`, `24h`; days only from two days on.
    public static func text(_ duration: Duration) -> String {
        let (seconds, attoseconds) = duration.components
        let milliseconds = Int(seconds) * 1_000 + Int(attoseconds / 1_000_000_000_000_000)
        guard milliseconds != 0 else { return "0s" }
        let days = Int(Unit.days.milliseconds)
        if milliseconds >= 2 * days, milliseconds.isMultiple(of: days) { return "\(milliseconds / days)d" }
        for unit in [Unit.hours, .minutes, .seconds] where milliseconds.isMultiple(of: Int(unit.milliseconds)) {
            return "\(milliseconds / Int(unit.milliseconds))\(unit.rawValue)"
        }
        return "\(milliseconds)ms"
    }
}
