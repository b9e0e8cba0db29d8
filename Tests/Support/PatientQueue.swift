package import GRDB

extension DatabaseQueue {
    /// Opens a store that another connection has just closed. That connection closes on a thread of its own, and holds
    /// a lock meanwhile.
    package static func patient(_ path: String) throws -> DatabaseQueue {
        var configuration = Configuration()
        configuration.busyMode = .timeout(30)
        return try DatabaseQueue(path: path, configuration: configuration)
    }
}
