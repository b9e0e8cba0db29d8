import SystemPackage

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

#if os(Linux)
    typealias SpawnActions = posix_spawn_file_actions_t
    typealias SpawnAttributes = posix_spawnattr_t
#else
    typealias SpawnActions = posix_spawn_file_actions_t?
    typealias SpawnAttributes = posix_spawnattr_t?
#endif

/// Starts a process with posix_spawnp(3) from the calling thread.
///
/// - Parameters:
///   - words: The program, which is searched for in `PATH` unless it is a path, and its arguments.
///   - variables: Its whole environment, as `NAME=value`.
///   - prepare: Sets the descriptors and attributes of the new process.
func spawn(
    _ words: [String], variables: [String], _ prepare: (inout SpawnActions, inout SpawnAttributes) -> Void
) -> Result<pid_t, Errno> {
    #if os(Linux)
        var actions = SpawnActions()
        var attributes = SpawnAttributes()
    #else
        var actions: SpawnActions = nil
        var attributes: SpawnAttributes = nil
    #endif
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    prepare(&actions, &attributes)
    var arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
    var environment: [UnsafeMutablePointer<CChar>?] = variables.map { strdup($0) } + [nil]
    defer { for text in arguments + environment { free(text) } }
    var pid: pid_t = 0
    let code = posix_spawnp(&pid, words.first ?? "", &actions, &attributes, &arguments, &environment)
    return code == 0 ? .success(pid) : .failure(Errno(rawValue: code))
}
