internal import CGit
public import Foundation

/// Who wrote or committed something, and when: a Git author or committer line.
public struct Signature: Sendable, Equatable, Codable {
    public var name: String
    public var email: String
    /// Whole seconds; Git keeps no fractions.
    public var time: Date
    /// The writer's distance from UTC, in minutes, east positive.
    public var offsetMinutes: Int

    public init(name: String, email: String, time: Date, offsetMinutes: Int = 0) {
        self.name = name
        self.email = email
        self.time = time
        self.offsetMinutes = offsetMinutes
    }

    /// The end of the year 9999, in seconds since 1970: later times are taken for this one.
    private static let latest: git_time_t = 253_402_300_799

    /// Bytes of a name, and of an address; a longer one is cut.
    static let limit = 256

    init(_ raw: git_signature) {
        name = BoundedText.cut(raw.name, to: Self.limit)
        email = BoundedText.cut(raw.email, to: Self.limit)
        // Whoever pushes chooses the number; as a date it must fit whoever makes whole seconds of it again.
        let time = min(max(raw.when.time, -Self.latest), Self.latest)
        self.time = Date(timeIntervalSince1970: TimeInterval(time))
        offsetMinutes = Int(raw.when.offset)
    }

    /// Lends the signature to one libgit2 call; throws when the name or address is empty or holds `<`, `>` or a NUL.
    func withRaw(_ body: (UnsafePointer<git_signature>) throws(GitError) -> Void) throws(GitError) {
        var out: UnsafeMutablePointer<git_signature>?
        let seconds = git_time_t(time.timeIntervalSince1970.rounded(.down))
        try git("git_signature_new") { git_signature_new(&out, name, email, seconds, Int32(offsetMinutes)) }
        defer { git_signature_free(out) }
        guard let out else { throw GitError(call: "git_signature_new", code: .failed, message: nil) }
        try body(out)
    }
}
