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
        #if os(Linux)
            var actions = posix_spawn_file_actions_t()
            var attributes = posix_spawnattr_t()
        #else
            var actions: posix_spawn_file_actions_t?
            var attributes: posix_spawnattr_t?
        #endif
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        for (own, given) in descriptors { posix_spawn_file_actions_adddup2(&actions, own, given) }
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        #if !os(Linux)
            // Descriptors that some library opened without close-on-exec must not reach a step. On Linux stepinit
            // closes them.
            posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_CLOEXEC_DEFAULT))
        #endif
        var arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
        var environment: [UnsafeMutablePointer<CChar>?] = variables.map { strdup($0) } + [nil]
        defer { for text in arguments + environment { free(text) } }
        var pid: pid_t = 0
        let code = posix_spawn(&pid, words[0], &actions, &attributes, &arguments, &environment)
        return code == 0 ? .success(pid) : .failure(Errno(rawValue: code))
    }
}
