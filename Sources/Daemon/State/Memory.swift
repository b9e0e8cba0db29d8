internal import CAllocator

/// The memory of an idle daemon.
public enum Memory {
    /// Makes the C library keep little freed memory. Call it before the process starts its first thread.
    public static func prepare() { allocator_prepare() }

    /// Returns freed memory, and drops pages of code that may not be needed again.
    ///
    /// It takes about a millisecond. Pages that are needed again come from the page cache with a minor fault.
    static func release() { allocator_trim() }
}
