/// How long is waited between attempts and between looks.
package struct AppStorePauses: Sendable {
    /// After the first failure of a request; it doubles with each further one.
    package var first = Duration.seconds(1)
    /// The longest pause after a failure, unless Apple asks for a longer one.
    package var longest = Duration.seconds(60)
    /// After 429 without `Retry-After`, when no request is left: the limit is for an hour that rolls.
    package var limited = Duration.seconds(300)
    /// How often a request, or a part of a file, is sent before its failure counts.
    package var attempts = 8
    /// Between the first two looks whether Apple has processed a build; it grows by half with each further one.
    package var look = Duration.seconds(15)
    /// The longest time between two looks.
    package var longestLook = Duration.seconds(120)
    /// How long a build may be processed before the step fails. It can be repeated then, and waits on.
    package var processing = Duration.seconds(2 * 3_600)
    /// How time passes. What hears Apple's webhooks may end a pause early.
    package var sleep: @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }

    package init() {}

    /// The pause after a request has failed for the `failures`th time.
    func after(_ failures: Int, _ error: AppStoreError) -> Duration {
        // Apple's pause is believed up to an hour.
        if let seconds = error.pause { return .seconds(min(max(seconds, 0), 3_600)) }
        if error.code == .limited { return limited }
        return min(longest, first * (1 << min(failures - 1, 12)))
    }
}
