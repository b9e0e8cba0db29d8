internal import CAllocator

/// What a daemon that has nothing to do keeps in memory.
public enum Memory {
    /// Has the C library keep little of what is freed; to be called before the process starts its first thread.
    public static func prepare() { allocator_prepare() }

    /// Gives back what was freed, and lets go of code that was needed to get here and may not be needed again.
    ///
    /// Takes about a millisecond; code that is needed after all comes back from the page cache with a minor fault.
    static func release() { allocator_trim() }
}
