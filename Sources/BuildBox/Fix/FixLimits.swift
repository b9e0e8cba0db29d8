/// Limits of what a fix may change.
enum FixLimits {
    static let files = 500
    /// Maximum size of all changed files together in bytes.
    static let bytes = 64 << 20
}
