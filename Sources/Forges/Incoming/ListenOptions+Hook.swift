import ForgeConnection
public import Listening

extension ListenOptions {
    /// The URL of the webhook of a repository.
    public func hook(of repository: String) -> String { "\(root)/hooks/\(ForgeRequest.part(repository))" }
}
