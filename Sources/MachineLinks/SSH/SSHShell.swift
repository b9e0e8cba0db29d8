import MachinePool
import Sandbox

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// OpenSSH's client for one machine. Its sessions share one connection.
struct SSHShell: MachineShell {
    let address: SSHAddress
    let settings: SSHSettings

    var name: String { address.description }
    var environment: [String: String] { settings.environment }

    func words(running script: String) -> [String] { ["ssh"] + options + ["--", address.host, ShellText.line(script)] }

    /// Ends the shared connection.
    var closing: [String] { ["ssh"] + options + ["-O", "exit", "--", address.host] }

    var options: [String] {
        var options = [
            // Nothing of the user's configuration, which could change what follows.
            "-F", "none", "-T", "-p", String(address.port), "-e", "none",
            "-o", "BatchMode=yes",
            "-o", "StrictHostKeyChecking=yes",
            "-o", "UserKnownHostsFile=\"\(settings.knownHosts)\"",
            "-o", "GlobalKnownHostsFile=/dev/null",
            "-o", "UpdateHostKeys=no",
            "-o", "CheckHostIP=no",
            "-o", "VerifyHostKeyDNS=no",
            "-o", "ForwardAgent=no",
            "-o", "ForwardX11=no",
            "-o", "ClearAllForwardings=yes",
            "-o", "PermitLocalCommand=no",
            "-o", "LogLevel=ERROR",
            "-o", "ConnectTimeout=\(settings.connectLimit)",
            "-o", "ServerAliveInterval=\(settings.askEvery)",
            "-o", "ServerAliveCountMax=\(settings.unanswered)",
        ]
        if let user = address.user { options += ["-l", user] }
        if let identity = settings.identity { options += ["-i", identity, "-o", "IdentitiesOnly=yes"] }
        if let socket {
            options += [
                "-o", "ControlMaster=auto", "-o", "ControlPath=\"\(socket)\"", "-o", "ControlPersist=\(settings.idle)",
            ]
        } else {
            options += ["-o", "ControlMaster=no", "-o", "ControlPath=none"]
        }
        return options
    }

    /// The socket of the shared connection; nil if its path would be too long or is no plain text, and each session has
    /// a connection of its own.
    var socket: String? {
        let digest = FileDigest.of(parts: [address.description, settings.identity ?? "", settings.knownHosts])
        let path = "\(settings.sockets)/s-\(digest.prefix(12))"
        // While it connects, ssh appends a dot and 16 letters; a socket's path has at most 103 bytes on macOS. `%` is
        // ssh's sign for its variables.
        guard path.utf8.count + 17 <= 103, !path.contains(where: { "%\"".contains($0) || $0.isNewline }) else {
            return nil
        }
        return path
    }

    /// Makes the folder of the socket.
    func prepare() throws(ReachProblem) {
        guard socket != nil else { return }
        var status = stat()
        if mkdir(settings.sockets, 0o700) == 0 { return }
        let code = errno
        guard code == EEXIST, lstat(settings.sockets, &status) == 0, status.st_mode & S_IFMT == S_IFDIR,
            status.st_uid == geteuid(), status.st_mode & 0o077 == 0
        else {
            throw ReachProblem(
                .unreachable,
                "\(settings.sockets), the folder for connections to other machines, can't be made or is open to other "
                    + "users. Remove it, then start the run again.")
        }
    }

    func problem(_ code: Int32, _ complaint: String) -> ReachProblem? {
        // ssh's own failure. A script of ours never ends with it.
        code == 255 ? SSHFailure.problem(of: name, complaint) : nil
    }
}
