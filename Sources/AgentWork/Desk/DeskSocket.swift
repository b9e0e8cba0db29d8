import Foundation
import SystemCalls

/// A listening Unix socket in a folder of a run.
enum DeskSocket {
    /// - Parameter name: Short. What has it in the folder is replaced.
    static func listening(in folder: String, name: String) throws -> StreamSocket {
        let socket = try StreamSocket.make()
        let path = "\(folder)/\(name)"
        // Of an earlier attempt in the same folder.
        unlink(path)
        var code = socket.bind(to: path)
        #if os(Linux)
            if code == ENAMETOOLONG {
                // The kernel follows the link of a descriptor, and the path is short then (proc(5)).
                let number = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
                guard number >= 0 else { throw SystemFailure("open") }
                code = Descriptor(number).use { socket.bind(to: "/proc/self/fd/\($0)/\(name)") }
            }
        #endif
        guard code == 0 else { throw SystemFailure("bind", code) }
        // The agent may run as another user. Nobody else gets into the folder of a run.
        guard chmod(path, 0o666) == 0 else { throw SystemFailure("chmod") }
        try socket.listen()
        return socket
    }
}
