#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// A message over a Unix socket that also carries open descriptors (SCM_RIGHTS, unix(7)).
package enum DescriptorMessage {
    /// Sends all bytes and returns 0, or an errno.
    package static func send(_ bytes: [UInt8], files: [Int32], over socket: Int32) -> Int32 {
        if sendSome(bytes[...], files: files, over: socket) == bytes.count { return 0 }
        return errno == 0 ? EIO : errno
    }

    /// Sends the descriptors, with as many of the bytes as the socket takes.
    ///
    /// - Returns: The number of bytes sent; -1 with errno if nothing was sent.
    static func sendSome(_ bytes: ArraySlice<UInt8>, files: [Int32], over socket: Int32) -> Int {
        #if os(Linux)
            typealias Length = Int
        #else
            typealias Length = UInt32
        #endif
        // The layout of `struct cmsghdr`, which Swift can't import because of its flexible array member.
        let size = MemoryLayout<Length>.size
        let head = (size + 8 + size - 1) & ~(size - 1)
        var control = [UInt8](repeating: 0, count: files.isEmpty ? 0 : (head + files.count * 4 + 7) & ~7)
        if !files.isEmpty {
            control.withUnsafeMutableBytes { buffer in
                buffer.storeBytes(of: Length(head + files.count * 4), as: Length.self)
                buffer.storeBytes(of: SOL_SOCKET, toByteOffset: size, as: Int32.self)
                buffer.storeBytes(of: 1, toByteOffset: size + 4, as: Int32.self)  // SCM_RIGHTS
                for (index, file) in files.enumerated() {
                    buffer.storeBytes(of: file, toByteOffset: head + index * 4, as: Int32.self)
                }
            }
        }
        return bytes.withUnsafeBytes { bytes in
            control.withUnsafeMutableBytes { control in
                // sendmsg(2) only reads it.
                var part = iovec(iov_base: UnsafeMutableRawPointer(mutating: bytes.baseAddress), iov_len: bytes.count)
                return withUnsafeMutablePointer(to: &part) { part in
                    var message = msghdr()
                    message.msg_iov = part
                    message.msg_iovlen = 1
                    message.msg_control = control.isEmpty ? nil : control.baseAddress
                    message.msg_controllen = .init(control.count)
                    while true {
                        let count = sendmsg(socket, &message, noSignal)
                        if count >= 0 || errno != EINTR { return count }
                    }
                }
            }
        }
    }
}
