/// What the settings say about webhooks and pages, as it was typed.
public struct ListenSettings: Sendable, Equatable {
    /// `PORT` or `HOST:PORT`; nil: the daemon does not listen.
    public var address: String?
    /// Files in PEM.
    public var certificate: String?
    public var key: String?
    /// The address under which forges reach it, where a proxy stands before it.
    public var url: String?
    /// Whether the pages for browsers are shown at the address, too.
    public var showsPages = true
    /// The header in which a trusted proxy names who asks.
    public var userHeader: String?
    /// Who of those that a proxy names may act.
    public var operators: [String] = []
    /// The id of the OAuth App that people sign in with; nil: they can't.
    public var signIn: String?

    public init() {}

    /// How the daemon listens; nil where it does not.
    ///
    /// - Throws: ``ListenError``.
    public func options() throws -> ListenOptions? {
        guard let address else { return nil }
        return try ListenOptions(
            address: try ListenAddress(address), certificate: certificate, key: key, url: url)
    }

    /// Why `text` is no header that a proxy could name people in; nil if it is one.
    public static func problem(withHeader text: String) -> String? {
        let taken = ["authorization", "cookie", "host", "origin", "referer", "content-type", "content-length"]
        guard (1...100).contains(text.utf8.count), !taken.contains(text.lowercased()),
            text.utf8.allSatisfy({
                (0x30...0x39).contains($0) || (0x41...0x5A).contains($0) || (0x61...0x7A).contains($0) || $0 == 0x2D
            })
        else { return "it is not the name of a header that only a proxy sets." }
        return nil
    }

    /// Why `text` is no address under which forges could reach this machine; nil if it is one.
    public static func problem(withURL text: String) -> String? {
        guard text.hasPrefix("https://") || text.hasPrefix("http://"), text.utf8.count <= 500,
            text.utf8.allSatisfy({ (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") })
        else { return "it is not an http or https URL without a query." }
        return nil
    }
}
