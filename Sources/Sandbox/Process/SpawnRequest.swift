import SystemPackage

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// A process to be started: its words, what it knows of the environment, and the descriptors that it gets.
struct SpawnRequest: Sendable {
    var words: [String]
    /// As "NAME=value".
    var variables: [String]
    /// Of ours, and the numbers that the process finds them by; none of ours may be one of theirs.
    var descriptors: [(own: Int32, given: Int32)]

    /// The command with no more of our environment than it needs to be linked: whatever else is in there is not shown.
    init(_ words: [String], descriptors: [(own: Int32, given: Int32)]) {
        self.words = words
        self.descriptors = descriptors
        variables = getenv("LD_LIBRARY_PATH").map { ["LD_LIBRARY_PATH=" + String(cString: $0)] } ?? []
    }

    /// Starts it from the thread that calls, whose namespaces it has.
    func start() -> Result<pid_t, Errno> {
        spawn(words, variables: variables) { actions, attributes in
            for (own, given) in descriptors { posix_spawn_file_actions_adddup2(&actions, own, given) }
            #if !os(Linux)
                // Descriptors that some library opened without close-on-exec must not reach a step. On Linux stepinit
                // closes them.
                posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_CLOEXEC_DEFAULT))
            #endif
        }
    }
}
