internal import CGit
public import Foundation

/// A Git author or committer line: a person and a time.
public struct Signature: Sendable, Equatable, Codable {
    /// As the commit has it; untrusted text.
    public var name: String
    /// As the commit has it; untrusted text.
    public var email: String
    /// Whole seconds; Git keeps no fractions.
    public var time: Date
    /// The person's distance from UTC, in minutes, east positive.
    public var offsetMinutes: Int

    public init(name: String, email: String, time: Date, offsetMinutes: Int = 0) {
        self.name = name
        self.email = email
        self.time = time
        self.offsetMinutes = offsetMinutes
    }

    /// The end of the year 9999, in seconds since 1970. Later times become this one.
    private static let latest: git_time_t = 253_402_300_799

    /// The most bytes of a name and of an address. Longer ones are cut.
    static let limit = 256

    init(_ raw: git_signature) {
        name = BoundedText.cut(raw.name, to: Self.limit)
        email = BoundedText.cut(raw.email, to: Self.limit)
        // Whoever pushes chooses the number. As a date it must be convertible to whole seconds again.
        let time = min(max(raw.when.time, -Self.latest), Self.latest)
        self.time = Date(timeIntervalSince1970: TimeInterval(time))
        offsetMinutes = Int(raw.when.offset)
    }

    /// Lends the signature to one libgit2 call.
    ///
    /// - Throws: If the name or address is empty or contains `<`, `>` or NUL.
    func withRaw(_ body: (UnsafePointer<git_signature>) throws(GitError) -> Void) throws(GitError) {
        var out: UnsafeMutablePointer<git_signature>?
        let seconds = git_time_t(time.timeIntervalSince1970.rounded(.down))
        try git("git_signature_new") { git_signature_new(&out, name, email, seconds, Int32(offsetMinutes)) }
        defer { git_signature_free(out) }
        guard let out else { throw GitError(call: "git_signature_new", code: .failed, message: nil) }
        try body(out)
    }
}
