/// Somebody at a forge.
public struct ForgeUser: Sendable, Hashable, Codable {
    public var login: String
    /// The number that GitLab asks about people by.
    public var id: Int?

    public init(login: String, id: Int? = nil) { (self.login, self.id) = (login, id) }
}
