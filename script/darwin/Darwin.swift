// What this project's code for macOS uses of the module Darwin, for script/darwin-check. Written from the manual pages of
// Darwin and Apple's documentation; no body does anything. What is the same on Linux comes from Glibc. Declarations that
// Linux has with other types are repeated here with Darwin's.
@_exported import DarwinTypes
@_exported import Glibc

// stat(2), statfs(2)
extension stat {
    public var st_atimespec: timespec { st_atim }
    public var st_mtimespec: timespec { st_mtim }
    public var st_ctimespec: timespec { st_ctim }
}
public func statfs(_ path: UnsafePointer<CChar>!, _ info: UnsafeMutablePointer<statfs>!) -> Int32 { -1 }
public var MNT_LOCAL: Int32 { 0x1000 }

// fcntl(2), sysctl(3)
public var F_SETNOSIGPIPE: Int32 { 73 }
public var F_FULLFSYNC: Int32 { 51 }
public func sysctlbyname(
    _ name: UnsafePointer<CChar>!, _ old: UnsafeMutableRawPointer!, _ oldLength: UnsafeMutablePointer<Int>!,
    _ new: UnsafeMutableRawPointer!, _ newLength: Int
) -> Int32 { -1 }

// socket(2), unix(4), getpeereid(3)
public var SOCK_STREAM: Int32 { 1 }
public var SOCK_DGRAM: Int32 { 2 }
public var SO_NOSIGPIPE: Int32 { 0x1022 }
public func socket(_ domain: Int32, _ type: Int32, _ number: Int32) -> Int32 { -1 }
public func socketpair(
    _ domain: Int32, _ type: Int32, _ number: Int32, _ pair: UnsafeMutablePointer<Int32>!
) -> Int32 { -1 }
public func getpeereid(_ socket: Int32, _ user: UnsafeMutablePointer<uid_t>!, _ group: UnsafeMutablePointer<gid_t>!)
    -> Int32
{ -1 }
extension sockaddr_un {
    public var sun_len: UInt8 {
        get { 0 }
        set {}
    }
}
extension sockaddr_in {
    public var sin_len: UInt8 {
        get { 0 }
        set {}
    }
}
extension sockaddr_in6 {
    public var sin6_len: UInt8 {
        get { 0 }
        set {}
    }
}
public struct msghdr {
    public var msg_name: UnsafeMutableRawPointer?
    public var msg_namelen: socklen_t = 0
    public var msg_iov: UnsafeMutablePointer<iovec>?
    public var msg_iovlen: Int32 = 0
    public var msg_control: UnsafeMutableRawPointer?
    public var msg_controllen: socklen_t = 0
    public var msg_flags: Int32 = 0
    public init() {}
}
@discardableResult public func sendmsg(_ socket: Int32, _ message: UnsafePointer<msghdr>!, _ flags: Int32) -> Int { -1 }
@discardableResult public func recvmsg(_ socket: Int32, _ message: UnsafeMutablePointer<msghdr>!, _ flags: Int32) -> Int
{ -1 }

// getrlimit(2), getpriority(2)
public var RLIMIT_CPU: Int32 { 0 }
public var RLIMIT_FSIZE: Int32 { 1 }
public var RLIMIT_DATA: Int32 { 2 }
public var RLIMIT_STACK: Int32 { 3 }
public var RLIMIT_CORE: Int32 { 4 }
public var RLIMIT_AS: Int32 { 5 }
public var RLIMIT_NOFILE: Int32 { 8 }
public var RLIM_NLIMITS: Int32 { 9 }
public var OPEN_MAX: Int32 { 10_240 }
public var PRIO_PROCESS: Int32 { 0 }
@discardableResult public func getrlimit(_ resource: Int32, _ limit: UnsafeMutablePointer<rlimit>!) -> Int32 { -1 }
@discardableResult public func setrlimit(_ resource: Int32, _ limit: UnsafePointer<rlimit>!) -> Int32 { -1 }
public func getpriority(_ which: Int32, _ who: id_t) -> Int32 { 0 }

// posix_spawn(2)
public typealias posix_spawn_file_actions_t = UnsafeMutableRawPointer
public typealias posix_spawnattr_t = UnsafeMutableRawPointer
public typealias SpawnActionsPointer = UnsafeMutablePointer<posix_spawn_file_actions_t?>
public typealias SpawnAttributesPointer = UnsafeMutablePointer<posix_spawnattr_t?>
public var POSIX_SPAWN_CLOEXEC_DEFAULT: Int32 { 0x4000 }
public var POSIX_SPAWN_SETSIGDEF: Int32 { 4 }
public var POSIX_SPAWN_SETSIGMASK: Int32 { 8 }
public var POSIX_SPAWN_SETSID: Int32 { 0x400 }
@discardableResult public func posix_spawn_file_actions_init(_ actions: SpawnActionsPointer!) -> Int32 { 0 }
@discardableResult public func posix_spawn_file_actions_destroy(_ actions: SpawnActionsPointer!) -> Int32 { 0 }
@discardableResult public func posix_spawn_file_actions_adddup2(
    _ actions: SpawnActionsPointer!, _ from: Int32, _ to: Int32
) -> Int32 { 0 }
@discardableResult public func posix_spawn_file_actions_addclose(_ actions: SpawnActionsPointer!, _ file: Int32) -> Int32
{ 0 }
@discardableResult public func posix_spawn_file_actions_addopen(
    _ actions: SpawnActionsPointer!, _ file: Int32, _ path: UnsafePointer<CChar>!, _ flags: Int32, _ mode: mode_t
) -> Int32 { 0 }
@discardableResult public func posix_spawnattr_init(_ attributes: SpawnAttributesPointer!) -> Int32 { 0 }
@discardableResult public func posix_spawnattr_destroy(_ attributes: SpawnAttributesPointer!) -> Int32 { 0 }
@discardableResult public func posix_spawnattr_setpgroup(_ attributes: SpawnAttributesPointer!, _ group: pid_t) -> Int32 { 0 }
@discardableResult public func posix_spawnattr_setflags(_ attributes: SpawnAttributesPointer!, _ flags: Int16) -> Int32 { 0 }
@discardableResult public func posix_spawnattr_setsigdefault(
    _ attributes: SpawnAttributesPointer!, _ signals: UnsafePointer<sigset_t>!
) -> Int32 { 0 }
@discardableResult public func posix_spawnattr_setsigmask(
    _ attributes: SpawnAttributesPointer!, _ signals: UnsafePointer<sigset_t>!
) -> Int32 { 0 }
public func posix_spawnp(
    _ process: UnsafeMutablePointer<pid_t>!, _ file: UnsafePointer<CChar>!, _ actions: SpawnActionsPointer!,
    _ attributes: SpawnAttributesPointer!, _ arguments: UnsafePointer<UnsafeMutablePointer<CChar>?>!,
    _ environment: UnsafePointer<UnsafeMutablePointer<CChar>?>!
) -> Int32 { 0 }

// pthread_create(3)
public struct _opaque_pthread_t {}
public typealias pthread_t = UnsafeMutablePointer<_opaque_pthread_t>
public func pthread_create(
    _ thread: UnsafeMutablePointer<pthread_t?>!, _ attributes: UnsafePointer<pthread_attr_t>?,
    _ start: @convention(c) (UnsafeMutableRawPointer) -> UnsafeMutableRawPointer?, _ context: UnsafeMutableRawPointer?
) -> Int32 { 0 }
public func pthread_join(_ thread: pthread_t, _ value: UnsafeMutablePointer<UnsafeMutableRawPointer?>?) -> Int32 { 0 }
