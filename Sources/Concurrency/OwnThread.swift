import SystemPackage

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// Runs `body`, which may block, on a thread of its own: the cooperative pool has one thread for each core.
///
/// - Throws: What `body` throws, or `Errno` when the system has no thread to give.
package func onOwnThread<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
        let code = startThread { continuation.resume(with: Result(catching: body)) }
        if code != 0 { continuation.resume(throwing: Errno(rawValue: code)) }
    }
}

/// Starts a thread that runs `body` and ends; returns an errno, 0 when there is one.
///
/// - Parameter stack: Bytes at most; what is not used takes no memory.
package func startThread(stack: Int = 1 << 20, _ body: @escaping @Sendable () -> Void) -> Int32 {
    let context = Unmanaged.passRetained(ThreadWork(body))
    let code = withUnsafeTemporaryAllocation(of: pthread_attr_t.self, capacity: 1) { buffer in
        // One element was asked for, so there is an address.
        let attributes = buffer.baseAddress.unsafelyUnwrapped
        pthread_attr_init(attributes)
        defer { pthread_attr_destroy(attributes) }
        pthread_attr_setdetachstate(attributes, Int32(PTHREAD_CREATE_DETACHED))
        pthread_attr_setstacksize(attributes, stack)
        #if os(Linux)
            var thread = pthread_t()
        #else
            var thread: pthread_t?
        #endif
        return pthread_create(&thread, attributes, { ThreadWork.start($0) }, context.toOpaque())
    }
    if code != 0 { context.release() }
    return code
}

private final class ThreadWork: Sendable {
    let body: @Sendable () -> Void

    init(_ body: @escaping @Sendable () -> Void) { self.body = body }

    static func start(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
        if let context { Unmanaged<ThreadWork>.fromOpaque(context).takeRetainedValue().body() }
        return nil
    }
}
