import Synchronization

/// The session of one connection, made when it is first wanted: what goes out and what comes in share its tokens.
package final class ForgeSessions: Sendable {
    private let made = Mutex<ForgeSession?>(nil)
    private let make: @Sendable () throws -> ForgeSession

    package init(_ make: @escaping @Sendable () throws -> ForgeSession) { self.make = make }

    /// - Throws: ``ForgeError`` with `.badCredential`: it is tried again with the next call.
    package func session() throws -> ForgeSession {
        try made.withLock { made in
            if let made { return made }
            let session = try make()
            made = session
            return session
        }
    }
}
