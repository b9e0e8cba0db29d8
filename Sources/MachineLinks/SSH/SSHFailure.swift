/// What OpenSSH's client says when it fails. Its exit code is 255 for all of it.
enum SSHFailure {
    /// Phrases of OpenSSH 7 to 10, the deciding ones first.
    private static let phrases: [(text: String, code: ReachProblem.Code)] = [
        ("REMOTE HOST IDENTIFICATION HAS CHANGED", .hostKeyChanged),
        ("has changed and you have requested strict checking", .hostKeyChanged),
        ("host key is known for", .hostKeyUnknown),
        ("Host key verification failed", .hostKeyUnknown),
        ("Permission denied (", .keyRefused),
        ("Too many authentication failures", .keyRefused),
        ("Could not resolve hostname", .nameUnknown),
    ]

    static func code(of complaint: String) -> ReachProblem.Code {
        phrases.first { complaint.contains($0.text) }?.code ?? .unreachable
    }

    static func problem(of machine: String, _ complaint: String) -> ReachProblem {
        let code = code(of: complaint)
        let words = ReachProblem.lastWords(of: complaint)
        let said = words.isEmpty ? "ssh gave no reason" : words
        let sentence =
            switch code {
            case .hostKeyChanged:
                "\(machine) shows another host key than the pinned one. Either it was installed anew, or something "
                    + "answers in its place. Ask who runs it for the new fingerprint; then remove the machine and add it again."
            case .hostKeyUnknown:
                "No host key is pinned for \(machine). Compare the fingerprint that it shows with the one that its "
                    + "owner knows, then add the machine again."
            case .keyRefused:
                "\(machine) refused our key (\(said)). Put the public key into ~/.ssh/authorized_keys there."
            case .nameUnknown:
                "The name of \(machine) has no address (\(said)). Check the name, and this machine's DNS."
            default:
                "\(machine) can't be reached (\(said)). Is it running, and is its network?"
            }
        return ReachProblem(code, sentence)
    }

    /// Why a session ended, as the predicate of a sentence about the machine.
    ///
    /// - Parameters:
    ///   - exitCode: That of ssh, or of what ran there; nil if a signal ended ssh.
    static func end(exitCode: Int32?, signal: Int32?, complaint: String) -> String {
        let words = ReachProblem.lastWords(of: complaint)
        let said = words.isEmpty ? "" : " (\(words))"
        switch exitCode {
        case nil: return "lost its connection, because ssh was ended by signal \(signal ?? 0)"
        case 0: return "ended its agent"
        case 255:
            // Also the exit code of ssh for a program that a signal ended.
            return words.isEmpty
                ? "closed the connection, or its agent was killed" : "could not be reached any more\(said)"
        case let code?: return "ended its agent with exit code \(code)\(said)"
        }
    }
}
