import Foundation

/// Where tokens for https come from: the environment, then `~/.netrc`, then Git's own credential file.
struct TokenSource {
    var environment: [String: String]
    var home: String

    /// The credentials for `host`, the best first. A token for one forge is never offered to another host.
    func credentials(host: String, user: String?) -> [Credential] {
        var found: [Credential] = []
        let forges = ["github.com": "GITHUB_TOKEN", "gitlab.com": "GITLAB_TOKEN", "codeberg.org": "CODEBERG_TOKEN"]
        for name in ["PIPECTL_GIT_TOKEN", forges[host]] {
            guard let name, let token = environment[name], !token.isEmpty else { continue }
            // GitHub ignores the user name. GitLab needs this one for OAuth tokens and ignores it for others.
            found.append(.password(user: user ?? "oauth2", secret: token))
        }
        found += netrc(host: host, user: user)
        found += store(host: host, user: user)
        return found.reduce(into: []) { unique, next in
            if !unique.contains(next) { unique.append(next) }
        }
    }

    /// Reads `~/.netrc`: "machine HOST login USER password SECRET" in any order of lines (curl's manual, "netrc").
    private func netrc(host: String, user: String?) -> [Credential] {
        let words = text("\(home)/.netrc").split(whereSeparator: \.isWhitespace).map(String.init)
        var found: [Credential] = []
        var (machine, login, secret): (String?, String?, String?) = (nil, nil, nil)
        func close() {
            guard let secret, machine == host || machine == host.split(separator: ":").first.map(String.init),
                user == nil || login == nil || user == login
            else { return }
            found.append(.password(user: login ?? user ?? "oauth2", secret: secret))
        }
        var position = 0
        while position < words.count {
            let value = position + 1 < words.count ? words[position + 1] : nil
            switch words[position] {
            case "machine":
                close()
                (machine, login, secret) = (value, nil, nil)
                position += 2
            case "default":
                close()
                (machine, login, secret) = (host, nil, nil)
                position += 1
            case "login":
                login = value
                position += 2
            case "password":
                secret = value
                position += 2
            default: position += 1
            }
        }
        close()
        return found
    }

    /// Reads `~/.git-credentials`: one "https://user:secret@host" a line, percent-encoded (git-credential-store(1)).
    private func store(host: String, user: String?) -> [Credential] {
        text("\(home)/.git-credentials").split(separator: "\n").compactMap { line in
            guard let url = URLComponents(string: String(line)), url.scheme == "https", let name = url.user,
                let secret = url.password, let named = url.host,
                (url.port.map { "\(named):\($0)" } ?? named).lowercased() == host, user == nil || user == name
            else { return nil }
            return .password(user: name, secret: secret)
        }
    }

    private func text(_ path: String) -> String {
        (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
    }
}
