package import GRDB

extension DatabaseQueue {
    /// Opens an index as somebody else would: one that was open a moment ago closes on a thread of its own, and holds a
    /// lock while it does.
    package static func patient(_ path: String) throws -> DatabaseQueue {
        var configuration = Configuration()
        configuration.busyMode = .timeout(30)
        return try DatabaseQueue(path: path, configuration: configuration)
    }
}
