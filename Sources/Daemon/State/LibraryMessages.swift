#if canImport(Glibc)
    import Glibc
#endif

/// What libraries write to the system's log by themselves.
public enum LibraryMessages {
    /// Keeps libdispatch from saying that a thread has no higher priority, which an ordinary user may not give it.
    ///
    /// It says so for each thread that it starts, into the journal of a service. libdispatch reads the variable before its
    /// first message; to be called before anything else is started, since no other thread may read variables meanwhile.
    /// What is started later inherits it.
    public static func silence() {
        #if os(Linux)
            setenv(variable, "NO", 0)
        #endif
    }

    static let variable = "LIBDISPATCH_LOG"
}
