internal import SystemCalls

/// The names of users, from the system's own records.
public enum UserName {
    /// The login name of a user id, or the number if there is none. It never reads the environment.
    public static func of(_ user: UInt32) -> String { SystemUser.find(user)?.name ?? "\(user)" }
}
