public import Foundation

/// Reads a time in the past as people type it: `2d`, `6h` or `30m` ago, or a date like `2026-01-31`.
public enum PastTime {
    /// Nil if the text is neither.
    public static func read(_ text: String) -> Date? {
        if let duration = try? DurationText.read(text) { return Date(timeIntervalSinceNow: -(duration / .seconds(1))) }
        if let time = try? Date(text, strategy: .iso8601) { return time }
        // The strategy reads a date and ignores what follows.
        guard text.utf8.count == "2026-01-31".utf8.count else { return nil }
        return try? Date(text, strategy: .iso8601.year().month().day())
    }
}
