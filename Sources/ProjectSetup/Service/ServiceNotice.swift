import Foundation
import SystemCalls

/// Tells systemd how its service is, as a unit with `Type=notify` has to: sd_notify(3).
package struct ServiceNotice: Sendable {
    private let socket: String

    /// nil if the process was not started as such a service.
    ///
    /// - Parameter environment: Where systemd names its socket: `NOTIFY_SOCKET`.
    package init?(environment: [String: String] = ProcessInfo.processInfo.environment) {
        // Names of other kinds are for services in virtual machines.
        guard let socket = environment["NOTIFY_SOCKET"], socket.hasPrefix("/") else { return nil }
        self.socket = socket
    }

    /// The service answers commands.
    package func ready() { send("READY=1\nSTATUS=") }

    /// The service has started, and waits for this. Whoever starts it, such as the machine or a package, does not wait
    /// with it.
    package func waits(_ reason: String) { send("READY=1\nSTATUS=\(firstLine(reason))") }

    /// The service is about to end for this reason, which `systemctl status` shows until it is started again.
    ///
    /// - Parameter reason: Its first line is sent.
    package func failed(_ reason: String) {
        send("STATUS=\(firstLine(reason))")
    }

    private func firstLine(_ text: String) -> Substring { text.split(whereSeparator: \.isNewline).first ?? "" }

    /// Who does not hear it waits on, so a failure is not an error of this process.
    private func send(_ message: String) {
        #if os(Linux)
            let number = Foundation.socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
            guard number >= 0 else { return }
            defer { close(number) }
            let bytes = Array(message.utf8)
            _ = UnixAddress.with(socket) { sendto(number, bytes, bytes.count, Int32(MSG_NOSIGNAL), $0, $1) }
        #endif
    }
}
