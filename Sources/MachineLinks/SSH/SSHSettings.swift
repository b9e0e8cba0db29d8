/// How pipectl uses OpenSSH's client.
package struct SSHSettings: Sendable {
    /// The file with the pinned keys of hosts: ``KnownHosts``. The user's own and the system's are not read.
    package var knownHosts: String
    /// The file of the private key; nil for those that ssh looks for itself, and those of the user's ssh-agent.
    package var identity: String?
    /// A folder of this user alone for the sockets of shared connections; made if it is missing.
    package var sockets: String
    /// The environment of ssh.
    package var environment: [String: String]
    /// The time to connect, in whole seconds.
    package var connectLimit = 10
    /// The connection counts as lost when the machine has not answered for this many times ``askEvery`` seconds.
    package var unanswered = 3
    /// Seconds after which a silent machine is asked for an answer.
    package var askEvery = 5
    /// Seconds for which a connection that nobody uses is kept.
    package var idle = 30

    package init(knownHosts: String, identity: String? = nil, sockets: String, environment: [String: String]) {
        self.knownHosts = knownHosts
        self.identity = identity
        self.sockets = sockets
        self.environment = environment
    }
}
