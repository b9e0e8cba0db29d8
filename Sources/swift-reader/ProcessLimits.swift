#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// What this process may use, whatever a file makes it do.
enum ProcessLimits {
    /// CPU time.
    static let seconds = 30
    /// Address space, including the stack.
    static let bytes = 2 << 30

    static func set() {
        #if canImport(Glibc)
            set(RLIMIT_CPU.rawValue, seconds)
            set(RLIMIT_AS.rawValue, bytes)
            set(RLIMIT_CORE.rawValue, 0)
            set(RLIMIT_FSIZE.rawValue, 0)
        #else
            set(RLIMIT_CPU, seconds)
            set(RLIMIT_CORE, 0)
            set(RLIMIT_FSIZE, 0)
        #endif
    }

    #if canImport(Glibc)
        private static func set(_ resource: UInt32, _ value: Int) {
            var limit = rlimit(rlim_cur: rlim_t(value), rlim_max: rlim_t(value))
            setrlimit(__rlimit_resource_t(resource), &limit)
        }
    #else
        private static func set(_ resource: Int32, _ value: Int) {
            var limit = rlimit(rlim_cur: rlim_t(value), rlim_max: rlim_t(value))
            setrlimit(resource, &limit)
        }
    #endif
}

/// A thread with a stack that is large enough for recursion over untrusted text.
enum DeepStack {
    /// The stack in bytes. The parser and the readers are recursive; a tree of the depth limit takes a small part of
    /// it.
    static let bytes = 512 << 20

    private final class Work {
        let body: () -> Void
        init(_ body: @escaping () -> Void) { self.body = body }
    }

    /// Runs `body` on a thread of its own and waits for its end; false if the system starts no thread.
    static func run(bytes: Int, _ body: () -> Void) -> Bool {
        withoutActuallyEscaping(body) { body in
            var attributes = pthread_attr_t()
            pthread_attr_init(&attributes)
            defer { pthread_attr_destroy(&attributes) }
            pthread_attr_setstacksize(&attributes, bytes)
            let work = Unmanaged.passRetained(Work(body))
            #if canImport(Glibc)
                var thread = pthread_t()
            #else
                var thread: pthread_t?
            #endif
            let code = pthread_create(&thread, &attributes, { DeepStack.start(of: $0) }, work.toOpaque())
            guard code == 0 else {
                work.release()
                return false
            }
            #if canImport(Glibc)
                return pthread_join(thread, nil) == 0
            #else
                return thread.map { pthread_join($0, nil) == 0 } ?? false
            #endif
        }
    }

    private static func start(of context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
        if let context { Unmanaged<Work>.fromOpaque(context).takeRetainedValue().body() }
        return nil
    }
}
