import ForeignText

/// Reads times in the formats' notations.
package enum Seconds {
    /// Seconds in any locale's notation: `0.5`, `0,5`, `1,234.56`, `1.234,56`, `12s`; nil if it is not a time.
    static func read(_ text: String) -> Double? {
        var text = text.trimmed
        if text.hasSuffix("s") { text.removeLast() }
        guard text.utf8.count <= 32 else { return nil }
        let commas = text.filter { $0 == "," }.count
        if commas > 0 {
            if let comma = text.lastIndex(of: ","), let dot = text.lastIndex(of: "."), dot < comma {
                text = text.filter { $0 != "." }.replacing(",", with: ".")
            } else if commas == 1, !text.contains(".") {
                text = text.replacing(",", with: ".")
            } else {
                text = text.filter { $0 != "," }
            }
        }
        return bounded(Double(text))
    }

    /// .NET's `[days.]hours:minutes:seconds[.fraction]`.
    static func ofTimeSpan(_ text: String) -> Double? {
        let parts = text.trimmed.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 3, text.utf8.count <= 40, let minutes = Double(parts[1]), let seconds = Double(parts[2])
        else { return nil }
        let days = parts[0].split(separator: ".", omittingEmptySubsequences: false).map { Double($0) }
        guard (1...2).contains(days.count), let hours = days.last ?? nil else { return nil }
        let whole = days.count == 2 ? (days[0] ?? .nan) : 0
        return bounded(((whole * 24 + hours) * 60 + minutes) * 60 + seconds)
    }

    static func ofMilliseconds(_ number: Double?) -> Double? { bounded(number.map { $0 / 1_000 }) }

    static func ofNanoseconds(_ number: Double?) -> Double? { bounded(number.map { $0 / 1e9 }) }

    static func bounded(_ value: Double?) -> Double? {
        guard let value, value.isFinite, value >= 0, value <= 1e9 else { return nil }
        return value
    }
}
