/// What a fix may change at most.
enum FixLimits {
    static let files = 500
    /// Bytes of all its files together.
    static let bytes = 64 << 20
}
