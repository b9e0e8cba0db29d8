#if canImport(Glibc)
    import Glibc
#endif

/// Suppresses messages that libraries write to the system's log.
public enum LibraryMessages {
    /// Stops libdispatch from logging that a thread has no higher priority, which an ordinary user can't grant.
    ///
    /// It logs this for each thread that it starts, into the journal of a service. libdispatch reads the variable
    /// before its first message. Call this before anything else is started, since no other thread may read variables
    /// meanwhile. Child processes inherit it.
    public static func silence() {
        #if os(Linux)
            setenv(variable, "NO", 0)
        #endif
    }

    static let variable = "LIBDISPATCH_LOG"
}
