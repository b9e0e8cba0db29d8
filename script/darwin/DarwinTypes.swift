// Types of Darwin that have the name of a function, which one module in Swift can't have; see Darwin.swift.

// statfs(2)
public struct statfs {
    public var f_flags: UInt32 = 0
    public var f_bavail: UInt64 = 0
    public var f_bsize: UInt32 = 0
    public init() {}
}
