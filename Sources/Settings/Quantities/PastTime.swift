public import Foundation
import Results

/// Reads a time in the past as people type it: `2d`, `6h` or `30m` ago, or a date like `2026-01-31`.
public enum PastTime {
    /// Nil if the text is neither.
    public static func read(_ text: String) -> Date? {
        if let duration = try? DurationText.read(text) { return Date(timeIntervalSinceNow: -(duration / .seconds(1))) }
        return Date(iso8601: text) ?? Date(iso8601: "\(text)T00:00:00Z")
    }
}
