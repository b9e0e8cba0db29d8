/// Limits of what a fix may change.
package enum FixLimits {
    package static let files = 500
    /// Maximum size of all changed files together in bytes.
    package static let bytes = 64 << 20
}
