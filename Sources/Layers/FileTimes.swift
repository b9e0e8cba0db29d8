#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

extension stat {
    /// When the content last changed.
    var modifiedTime: timespec {
        #if canImport(Darwin)
            st_mtimespec
        #else
            st_mtim
        #endif
    }

    /// When the name, the mode or the content last changed.
    var changedTime: timespec {
        #if canImport(Darwin)
            st_ctimespec
        #else
            st_ctim
        #endif
    }
}

extension timespec {
    static func == (one: timespec, other: timespec) -> Bool {
        (one.tv_sec, one.tv_nsec) == (other.tv_sec, other.tv_nsec)
    }

    static func < (one: timespec, other: timespec) -> Bool {
        (one.tv_sec, one.tv_nsec) < (other.tv_sec, other.tv_nsec)
    }
}
