import ArgumentParser
import Foundation
import Settings

/// Durations of options that are not settings. A number without a unit keeps the meaning that it had in older versions.
enum DurationOption {
    @Sendable static func seconds(_ text: String) throws -> Duration { try read(text, .seconds) }
    @Sendable static func days(_ text: String) throws -> Duration { try read(text, .days) }

    private static func read(_ text: String, _ bare: DurationText.Unit) throws -> Duration {
        do throws(QuantityProblem) { return try DurationText.read(text, bare: bare) } catch {
            throw ValidationError(error.description)
        }
    }
}

/// Sizes of options that are not settings.
enum SizeOption {
    /// Returns bytes.
    @Sendable static func mebibytes(_ text: String) throws -> Int {
        do throws(QuantityProblem) { return try SizeText.read(text, bare: .mebibytes) } catch {
            throw ValidationError(error.description)
        }
    }
}

/// Times of options that are not settings.
enum TimeOption {
    static func past(_ text: String) throws -> Date {
        guard let date = PastTime.read(text) else {
            throw ValidationError("\"\(text)\" is not a time: write 30m, 6h, 2d, 1w, or a date like 2026-01-31")
        }
        return date
    }
}
