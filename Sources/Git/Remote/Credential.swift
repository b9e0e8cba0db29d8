import CGit

/// A credential to offer to a server.
enum Credential: Equatable {
    case user(String)
    case agent(user: String)
    case key(user: String, privateKey: String, publicKey: String?)
    case password(user: String, secret: String)

    /// Makes libgit2's form of it, which libgit2 then owns.
    func make(_ out: UnsafeMutablePointer<UnsafeMutablePointer<git_credential>?>) -> Int32 {
        switch self {
        case .user(let name): git_credential_username_new(out, name)
        case .agent(let user): git_credential_ssh_key_from_agent(out, user)
        case .key(let user, let privateKey, let publicKey):
            git_credential_ssh_key_new(out, user, publicKey, privateKey, nil)
        case .password(let user, let secret): git_credential_userpass_plaintext_new(out, user, secret)
        }
    }

    /// Its name in errors, without the secret.
    var name: String {
        switch self {
        case .user: "user name"
        case .agent: "SSH agent"
        case .key(_, let path, _): path
        case .password: "token"
        }
    }
}
