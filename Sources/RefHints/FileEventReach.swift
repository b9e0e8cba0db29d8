import Foundation

#if canImport(Darwin)
    import Darwin
#else
    import CLinux
    import Glibc
#endif

/// Whether the kernel reports everything that is written to a folder.
package enum FileEventReach {
    /// Network and shared file systems, to which other machines write unseen by this kernel: NFS, SMB and CIFS, FUSE,
    /// 9P, Ceph, AFS, Coda, OCFS2, GFS2, shared folders of VirtualBox, virtiofs as FUSE (statfs(2), linux/magic.h).
    private static let shared: Set<UInt32> = [
        0x6969, 0x517B, 0xFE53_4D42, 0xFF53_4D42, 0x6573_5546, 0x0102_1997, 0x00C3_6400, 0x5346_414F, 0x7375_7245,
        0x7461_636F, 0x0116_1970, 0x786F_4256,
    ]

    /// False for a disk that other machines may write to, and if that can't be found out.
    package static func isWhole(at path: String) -> Bool {
        var info = statfs()
        guard statfs(path, &info) == 0 else { return false }
        #if canImport(Darwin)
            return info.f_flags & UInt32(MNT_LOCAL) != 0
        #else
            return !shared.contains(UInt32(truncatingIfNeeded: info.f_type))
        #endif
    }
}
