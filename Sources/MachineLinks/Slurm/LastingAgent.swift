/// An agent that lives in an allocation of Slurm as long as its run, whatever becomes of the connection.
struct LastingAgent: Sendable, Equatable {
    /// The allocation's.
    let name: String
    /// In the name of the folder with the agent's socket.
    private let secret: String
    /// Which agent was started; nil until that is known.
    private(set) var version: String?

    init(_ request: SlurmRequest) { (name, secret) = (request.name, request.secret) }

    /// - Returns: Nil if the text is none of ``trace(_:)``.
    init?(_ trace: String) {
        let words = trace.split(separator: " ").map(String.init)
        guard words.count == 3, words.allSatisfy({ ShellText.plainName($0) == $0 && !$0.hasPrefix("-") }),
            words[0].hasPrefix("pipectl-")
        else { return nil }
        (name, secret, version) = (words[0], words[1], words[2])
    }

    /// By which the agent is found again.
    func trace(_ programs: [AgentPrograms]) -> String { "\(name) \(secret) \(Self.version(of: programs))" }

    /// Names the agents that this pipectl brings.
    static func version(of programs: [AgentPrograms]) -> String { programs.first?.folder ?? "none" }

    /// On the node; a node whose jobs have a `/tmp` each shows a job's steps the same one.
    private var folder: String { "/tmp/pipectl-agent-\(secret)" }

    /// The script of the job. It makes the folder, waits for the agent's command line there, and becomes the agent.
    ///
    /// If the process of Slurm that started it is killed, nobody would end the script: it ends itself, and so does the
    /// agent. It also ends if nobody brings the agent within ten minutes.
    var jobScript: String {
        """
        umask 077
        mkdir -m 700 "\(folder)" 2>/dev/null || [ -O "\(folder)" ] || exit 1
        parent() { while read -r key value; do [ "$key" != PPid: ] || echo "$value"; done </proc/$$/status; }
        first=$(parent)
        turns=0
        while [ ! -e "\(folder)/start" ]; do
            turns=$((turns + 1))
            if [ $turns -gt 6000 ] || [ "$(parent)" != "$first" ]; then rm -rf "\(folder)"; exit 1; fi
            sleep 0.1
        done
        exec /bin/sh "\(folder)/start" --listen "\(folder)" </dev/null 2>"\(folder)/complaints"
        """
    }

    /// The script of a step that lets the job start the agent, and connects with it.
    func starting(_ command: String) -> String {
        """
        umask 077
        printf 'exec %s "$@"\\n' \(ShellText.word(command)) >"\(folder)/new" && mv "\(folder)/new" "\(folder)/start" || exit 1
        \(connecting)
        """
    }

    /// The script of a step that connects with the agent.
    var connecting: String {
        """
        /bin/sh "\(folder)/start" --connect "\(folder)" && exit 0
        code=$?
        tail -c 1000 "\(folder)/complaints" >&2
        exit $code
        """
    }
}
