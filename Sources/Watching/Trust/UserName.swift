import Foundation

/// The names of users, from the system's own records.
public enum UserName {
    /// The login name of a user id, or the number if there is none. It never reads the environment.
    public static func of(_ user: UInt32) -> String {
        var entry = passwd()
        var found: UnsafeMutablePointer<passwd>?
        var buffer = [CChar](repeating: 0, count: 16_384)
        return buffer.withUnsafeMutableBufferPointer { bytes in
            guard let room = bytes.baseAddress else { return "\(user)" }
            let code = getpwuid_r(user, &entry, room, bytes.count, &found)
            // The name points into the buffer, so it is copied before the buffer is freed.
            guard code == 0, found != nil, let name = entry.pw_name else { return "\(user)" }
            return String(cString: name)
        }
    }
}
