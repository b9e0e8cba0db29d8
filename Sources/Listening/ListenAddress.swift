import Foundation

/// Where webhooks are heard and pages are shown: a host and a port of this machine.
public struct ListenAddress: Sendable, Equatable {
    public var host: String
    /// From 0 to 65535; with 0 the kernel chooses one.
    public var port: Int

    /// Reads `8787`, `127.0.0.1:8787`, `[::1]:8787` or `hooks.example.org:443`. Without a host it is loopback.
    ///
    /// - Throws: ``ListenError``.
    public init(_ text: String) throws {
        var (host, port) = ("127.0.0.1", text[...])
        if let colon = text.lastIndex(of: ":") {
            (host, port) = (String(text[..<colon]), text[text.index(after: colon)...])
            if host.hasPrefix("["), host.hasSuffix("]") { host = String(host.dropFirst().dropLast()) }
        }
        let isName = host.utf8.allSatisfy {
            (0x30...0x39).contains($0) || (0x41...0x5A).contains($0) || (0x61...0x7A).contains($0)
                || [0x2D, 0x2E, 0x3A, 0x5F].contains($0)
        }
        guard isName, !host.isEmpty, host.utf8.count <= 253, !port.isEmpty, port.utf8.count <= 5,
            port.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = Int(port), number <= 65_535
        else {
            throw ListenError(
                "\"\(text.prefix(100))\" is not an address to listen on; write PORT or HOST:PORT")
        }
        (self.host, self.port) = (host, number)
    }

    /// Whether only this machine reaches it.
    public var isLoopback: Bool {
        host == "localhost" || host == "::1" || host.hasPrefix("127.")
    }

    /// As a URL has it: `127.0.0.1:8787`, `[::1]:8787`.
    public var text: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
}

/// How the daemon listens for webhooks and browsers.
public struct ListenOptions: Sendable, Equatable {
    public var address: ListenAddress
    /// Files in PEM: the certificate with those that lead to its issuer, and its key. Nil: no TLS.
    public var certificate: String?
    public var key: String?
    /// The address under which forges reach it, where a proxy stands before it; without a slash at the end.
    public var url: String?
    /// Connections that are open at a time; more wait in the kernel.
    public var mostConnections = 1_024

    /// - Throws: ``ListenError`` where other machines would reach it without TLS, or half a pair of files is given.
    public init(address: ListenAddress, certificate: String? = nil, key: String? = nil, url: String? = nil) throws {
        guard (certificate == nil) == (key == nil) else {
            throw ListenError("listenCertificate and listenKey go together: both name a file in PEM")
        }
        guard address.isLoopback || certificate != nil else {
            throw ListenError(
                "other machines reach \(address.text), so it needs TLS: set listenCertificate and listenKey, or listen on "
                    + "127.0.0.1 behind a proxy that has them")
        }
        (self.address, self.certificate, self.key) = (address, certificate, key)
        self.url = url.map { $0.hasSuffix("/") ? String($0.dropLast()) : $0 }
    }

    /// The root of the URLs that people type, and enter at a forge.
    public var root: String { url ?? "\(certificate == nil ? "http" : "https")://\(address.text)" }
}

/// Why the daemon can't listen.
public struct ListenError: Error, Sendable, Equatable, CustomStringConvertible {
    /// One sentence, which says what to set instead.
    public var description: String

    init(_ description: String) { self.description = description }
}
