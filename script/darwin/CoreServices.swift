// What this project uses of CoreServices' file system events, for script/darwin-check. Written from Apple's
// documentation; no body does anything.
public import Dispatch

// On Linux Swift bridges nothing to Core Foundation: an array stands for CFArray, and a value without a class may be
// managed.
public typealias CFArray = [Any]
public typealias CFAllocator = Never
public struct Unmanaged<Instance> {
    public static func passUnretained(_ value: Instance) -> Unmanaged { Unmanaged() }
    public static func passRetained(_ value: Instance) -> Unmanaged { Unmanaged() }
    public static func fromOpaque(_ pointer: UnsafeRawPointer) -> Unmanaged { Unmanaged() }
    public func toOpaque() -> UnsafeMutableRawPointer { UnsafeMutableRawPointer(bitPattern: 1)! }
    public func takeUnretainedValue() -> Instance { preconditionFailure() }
    public func takeRetainedValue() -> Instance { preconditionFailure() }
    public func retain() -> Unmanaged { self }
    public func release() {}
}

public typealias FSEventStreamRef = OpaquePointer
public typealias ConstFSEventStreamRef = OpaquePointer
public typealias FSEventStreamEventFlags = UInt32
public typealias FSEventStreamEventId = UInt64
public typealias FSEventStreamCreateFlags = UInt32
public typealias FSEventStreamCallback =
    @convention(c) (
        ConstFSEventStreamRef, UnsafeMutableRawPointer?, Int, UnsafeMutableRawPointer,
        UnsafePointer<FSEventStreamEventFlags>, UnsafePointer<FSEventStreamEventId>
    ) -> Void
public struct FSEventStreamContext {
    public var version = 0
    public var info: UnsafeMutableRawPointer?
    public var retain: (@convention(c) (UnsafeRawPointer?) -> UnsafeRawPointer?)?
    public var release: (@convention(c) (UnsafeRawPointer?) -> Void)?
    public init() {}
}
public var kFSEventStreamEventFlagMustScanSubDirs: Int { 1 }
public var kFSEventStreamEventFlagEventIdsWrapped: Int { 8 }
public var kFSEventStreamEventFlagRootChanged: Int { 0x20 }
public var kFSEventStreamEventIdSinceNow: UInt64 { .max }
public var kFSEventStreamCreateFlagUseCFTypes: Int { 1 }
public var kFSEventStreamCreateFlagNoDefer: Int { 2 }
public var kFSEventStreamCreateFlagWatchRoot: Int { 4 }
public var kFSEventStreamCreateFlagFileEvents: Int { 0x10 }
public func FSEventStreamCreate(
    _ allocator: CFAllocator?, _ callback: FSEventStreamCallback, _ context: UnsafeMutablePointer<FSEventStreamContext>?,
    _ paths: CFArray, _ since: FSEventStreamEventId, _ latency: Double, _ flags: FSEventStreamCreateFlags
) -> FSEventStreamRef? { nil }
public func FSEventStreamSetDispatchQueue(_ stream: FSEventStreamRef, _ queue: DispatchQueue?) {}
@discardableResult public func FSEventStreamStart(_ stream: FSEventStreamRef) -> Bool { false }
public func FSEventStreamStop(_ stream: FSEventStreamRef) {}
public func FSEventStreamInvalidate(_ stream: FSEventStreamRef) {}
public func FSEventStreamRelease(_ stream: FSEventStreamRef) {}
