import Foundation

/// The address of a repository at a forge, read from the URL that a browser shows.
///
/// `https://github.com/octo/hello` becomes the API `https://api.github.com` and the project `octo/hello`.
public struct ForgeAddress: Sendable, Equatable, Codable {
    /// The product that the forge runs.
    public var kind: ForgeKind
    /// The API's root, without a slash at the end: `https://api.github.com`, `https://git.example.org/api/v1`.
    public var api: String
    /// The repository's page, without a slash at the end.
    public var web: String
    /// Owner and name; at GitLab with the groups between them.
    public var project: String

    /// Reads the address of a repository's page, or a clone URL.
    ///
    /// - Parameters:
    ///   - text: `https://HOST/OWNER/NAME`, with or without `.git`, or `git@HOST:OWNER/NAME.git`.
    ///   - kind: The forge's kind; nil: derived from the host's name.
    ///   - api: The API's root; nil: its usual place.
    /// - Throws: ``ForgeError`` with `.badAddress`.
    public init(_ text: String, kind: ForgeKind? = nil, api: String? = nil) throws {
        guard let url = Self.url(text), let host = url.host(percentEncoded: false), !host.isEmpty else {
            throw ForgeError(
                .badAddress,
                "\"\(text.prefix(200))\" is not the address of a repository at a forge; write https://HOST/OWNER/NAME")
        }
        guard url.user == nil, url.password == nil, url.query == nil, url.fragment == nil else {
            throw ForgeError(
                .badAddress,
                "the address contains a user, a password or a query; leave them out: pipectl asks for credentials separately"
            )
        }
        guard url.scheme == "https" || Self.isLoopback(host) else {
            throw ForgeError(
                .badAddress, "\(host) is not an https address; a token would cross the network unencrypted")
        }
        let parts = url.path(percentEncoded: false).split(separator: "/").map(String.init)
        guard let found = kind ?? ForgeKind.recognised(by: host) else {
            throw ForgeError(
                .badAddress,
                "\(host) is not the host of a known forge; add --kind github, gitlab, gitea or forgejo")
        }
        self.kind = found
        let mayHaveGroups = found == .gitlab
        guard parts.count == 2 || (mayHaveGroups && parts.count > 2), parts.allSatisfy(Self.isName) else {
            throw ForgeError(
                .badAddress, "\"\(text.prefix(200))\" does not name one repository; write https://\(host)/OWNER/NAME")
        }
        var names = parts
        if let last = names.last, last.hasSuffix(".git"), last.count > 4 {
            names[names.count - 1] = String(last.dropLast(4))
        }
        project = names.joined(separator: "/")
        let root =
            "\(url.scheme ?? "https")://\(host.contains(":") ? "[\(host)]" : host)\(url.port.map { ":\($0)" } ?? "")"
        web = "\(root)/\(project)"
        self.api = try api.map(Self.apiRoot) ?? Self.usualAPI(found, host: host, root: root)
    }

    private static func usualAPI(_ kind: ForgeKind, host: String, root: String) -> String {
        switch kind {
        case .github: host.lowercased() == "github.com" ? "https://api.github.com" : "\(root)/api/v3"
        case .gitlab: "\(root)/api/v4"
        case .gitea, .forgejo: "\(root)/api/v1"
        }
    }

    private static func apiRoot(_ text: String) throws -> String {
        guard let url = URL(string: text), let host = url.host(percentEncoded: false),
            url.scheme == "https" || (url.scheme == "http" && isLoopback(host)), url.user == nil, url.query == nil
        else {
            throw ForgeError(.badAddress, "\"\(text.prefix(200))\" is not the root of an API; write https://HOST/PATH")
        }
        return text.hasSuffix("/") ? String(text.dropLast()) : text
    }

    private static func url(_ text: String) -> URL? {
        if let url = URL(string: text), url.scheme == "https" || url.scheme == "http" { return url }
        // git@HOST:OWNER/NAME.git, the form of ssh.
        guard !text.contains("://"), let at = text.firstIndex(of: "@"), let colon = text[at...].firstIndex(of: ":")
        else {
            return nil
        }
        return URL(string: "https://\(text[text.index(after: at)..<colon])/\(text[text.index(after: colon)...])")
    }

    private static func isName(_ text: String) -> Bool {
        text != "." && text != ".." && text.utf8.count <= 255
            && text.unicodeScalars.allSatisfy {
                $0.isASCII && ($0.properties.isAlphabetic || "0123456789-_.".unicodeScalars.contains($0))
            }
    }

    private static func isLoopback(_ host: String) -> Bool { ["localhost", "127.0.0.1", "::1"].contains(host) }
}

extension ForgeAddress {
    /// The connection as the store keeps it. Throws an error of the encoder.
    public func json() throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(self), as: UTF8.self)
    }

    public init(json: String) throws {
        do {
            self = try JSONDecoder().decode(ForgeAddress.self, from: Data(json.utf8))
        } catch {
            throw ForgeError(.badAddress, "the connection was stored by another version of pipectl; connect it again")
        }
    }
}
