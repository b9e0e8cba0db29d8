import Watching

/// Who sends a request.
struct Caller: Sendable {
    /// The user at the other end of the socket according to the kernel; nil for somebody at the pages.
    let user: UInt32?
    /// In words: a login name of this machine, or `@ada at GitHub`.
    let name: String
    /// What the report of a run says about who asked for it: only of people at the pages, who may be anybody. The socket
    /// knows one user.
    var person: String? { user == nil ? name : nil }

    init(user: UInt32) { (self.user, name) = (user, UserName.of(user)) }

    /// Somebody at the pages, as they know them.
    init(person: String) { (user, name) = (nil, person) }
}
