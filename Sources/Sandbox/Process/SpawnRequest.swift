import SystemPackage

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// A process to be started: its command, its environment and its descriptors.
struct SpawnRequest: Sendable {
    var words: [String]
    /// As "NAME=value".
    var variables: [String]
    /// Pairs of our descriptor and its number in the new process; no number of ours may be among the numbers of theirs.
    var descriptors: [(own: Int32, given: Int32)]

    /// The command with only those of our variables that its linker needs, so that no other variable leaks.
    init(_ words: [String], descriptors: [(own: Int32, given: Int32)]) {
        self.words = words
        self.descriptors = descriptors
        variables = getenv("LD_LIBRARY_PATH").map { ["LD_LIBRARY_PATH=" + String(cString: $0)] } ?? []
    }

    /// Starts the process from the calling thread, whose namespaces it inherits.
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
