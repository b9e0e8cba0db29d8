import Results
import ArgumentParser
import Foundation
import Settings

/// `2d`, `6h`, `30m` ago, or a date.
enum PastTime {
    /// Nil if the text is neither.
    static func read(_ text: String) -> Date? {
        if let duration = try? DurationText.read(text) { return Date(timeIntervalSinceNow: -(duration / .seconds(1))) }
        return Date(iso8601: text) ?? Date(iso8601: "\(text)T00:00:00Z")
    }

    /// The same for an option.
    /// - Throws: `ValidationError` if the text is neither.
    static func required(_ text: String) throws -> Date {
        guard let date = read(text) else {
            throw ValidationError("\"\(text)\" is not a time: write 30m, 6h, 2d, 1w, or a date like 2026-01-31")
        }
        return date
    }
}
