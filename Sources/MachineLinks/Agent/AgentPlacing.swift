import Concurrency

/// Makes sure that a machine has the agent, and says how it is started there.
struct AgentPlacing: Sendable {
    let shell: any MachineShell
    /// The agent for each platform that we have one for.
    let programs: [AgentPrograms]
    /// The folder there, as the POSIX shell reads it between double quotes.
    var folder = "${XDG_CACHE_HOME:-$HOME/.cache}/pipectl"

    /// What a machine says about itself.
    struct Place: Equatable {
        var platform: MachinePlatform
        /// The folders of agents that are complete there.
        var folders: Set<String> = []
        /// The path of an agent that was installed there.
        var installed: String?
    }

    private static let mark = "pipectl-machine"

    /// The script that starts the agent, which is put there before if it is missing.
    ///
    /// - Throws: ``ReachProblem``, `CancellationError`.
    func script() async throws -> String { "exec " + (try await command()) }

    /// The command that starts the agent, as the POSIX shell reads it; further arguments may follow.
    func command() async throws -> String {
        let place = try await look()
        if let fitting = programs.first(where: { $0.platform == place.platform }) {
            if !place.folders.contains(fitting.folder) { try await put(fitting) }
            let own = "\(folder)/\(fitting.folder)"
            // The agent removes the variable, so that steps don't see it.
            let libraries = fitting.hasLibraries ? "env LD_LIBRARY_PATH=\"\(own)\" " : ""
            return start("\(libraries)\"\(own)/\(fitting.program)\"", fitting.arguments)
        }
        // The agent's first frame names its version, which is checked then.
        if let installed = place.installed { return start(ShellText.word(installed), programs.first?.arguments ?? []) }
        let ours = programs.map(\.platform.description).joined(separator: ", ")
        throw ReachProblem(
            .agentMissing,
            "\(shell.name) is \(place.platform), and this pipectl brings the agent only for \(ours.isEmpty ? "no platform" : ours). "
                + "Install the same version of pipectl there; pipectl-agent must be in PATH, /usr/local/bin or "
                + "/opt/homebrew/bin.")
    }

    private func start(_ program: String, _ arguments: [String]) -> String {
        ([program] + arguments.map(ShellText.word)).joined(separator: " ")
    }

    // MARK: Looking

    /// Asks the machine for its platform and its agents.
    func look() async throws -> Place {
        // A file that lost its end, for example when the power failed, is sent again.
        let checks = programs.map { programs in
            """
            d="\(folder)/\(programs.folder)"
            if [ -f "$d/complete" ] && [ "$(\(Self.sizes(programs)))" = "$(cat "$d/complete")" ]; then
                touch "$d" 2>/dev/null; printf '\(Self.mark)-folder %s\\n' \(programs.folder)
            fi

            """
        }
        let (code, output) = try await shell.run(
            """
            printf '\(Self.mark) %s %s\\n' "$(uname -s)" "$(uname -m)"
            \(checks.joined())PATH=$PATH:/usr/local/bin:/opt/homebrew/bin
            p=$(command -v pipectl-agent) && printf '\(Self.mark)-installed %s\\n' "$p"
            exit 0
            """, deadline: .seconds(60))
        guard code == 0 else {
            throw ReachProblem(
                .agentNotPlaced,
                "\(shell.name) can't run a shell: \(ReachProblem.lastWords(of: output)) (exit code \(code)). "
                    + "Check that the user there has a shell.")
        }
        return try Self.place(from: output, of: shell.name)
    }

    /// Reads the answer of the script above. The start files of a shell may print something before it, as they may
    /// before the agent's first line.
    static func place(from output: String, of name: String) throws(ReachProblem) -> Place {
        let lines = output.split(whereSeparator: \.isNewline).map { $0.split(separator: " ", maxSplits: 2) }
        guard let first = lines.firstIndex(where: { $0.first ?? "" == mark && $0.count == 3 }) else {
            throw ReachProblem(
                .unknownAnswer,
                "\(name) did not say which system it is: \(ReachProblem.lastWords(of: output)). "
                    + "Check that a command can be run there by hand.")
        }
        var place = Place(platform: MachinePlatform(system: String(lines[first][1]), machine: String(lines[first][2])))
        for line in lines[first...].dropFirst() where line.count >= 2 {
            switch line[0] {
            case "\(mark)-folder": place.folders.insert(String(line[1]))
            case "\(mark)-installed": place.installed = line.dropFirst().joined(separator: " ")
            default: break
            }
        }
        return place
    }

    // MARK: Putting

    /// Each file is on the disk before it has its name, and all of them before the folder counts as complete: a machine
    /// that loses its power has the whole agent or none. A `sync` that takes no file flushes everything.
    private func put(_ programs: AgentPrograms) async throws {
        for file in programs.files {
            let (code, output) = try await shell.run(
                prologue(programs)
                    + """
                    t="$d/\(file.name).part-\(UInt64.random(in: 0 ... .max))"
                    trap 'rm -f "$t"' EXIT
                    mkdir -p "$d"
                    cat >"$t"
                    s=$( (sha256sum "$t" 2>/dev/null || shasum -a 256 "$t") | cut -d ' ' -f 1)
                    [ "$s" = \(file.digest) ] || exit \(Self.damaged)
                    chmod 700 "$t"
                    sync "$t" 2>/dev/null || sync
                    mv -f "$t" "$d/\(file.name)"
                    """, reading: file.path, deadline: .seconds(600))
            try check(code, output, file.name)
        }
        // Agents of earlier versions that nobody used for a month go.
        let (code, output) = try await shell.run(
            prologue(programs)
                + """
                sync "$d" 2>/dev/null || sync
                (\(Self.sizes(programs))) >"$d/complete"
                find "$d/.." -maxdepth 1 -type d -name 'agent-*' -mtime +30 -exec rm -rf {} + 2>/dev/null || :
                """, deadline: .seconds(60))
        try check(code, output, "complete")
    }

    private static let damaged: Int32 = 87

    /// A command that prints how long the files in the folder `$d` are.
    private static func sizes(_ programs: AgentPrograms) -> String {
        "cd \"$d\" && wc -c \(programs.files.map { "./\($0.name)" }.joined(separator: " ")) 2>&1"
    }

    private func prologue(_ programs: AgentPrograms) -> String {
        """
        set -e
        LC_ALL=C
        export LC_ALL
        umask 077
        d="\(folder)/\(programs.folder)"

        """
    }

    private func check(_ code: Int32, _ output: String, _ file: String) throws(ReachProblem) {
        guard code != 0 else { return }
        let words = ReachProblem.lastWords(of: output)
        if output.contains("No space left on device") || output.contains("Disk quota exceeded") {
            throw ReachProblem(
                .diskFull, "The disk of \(shell.name) is full: \(words). Make room there, then start the run again.")
        }
        if code == Self.damaged {
            throw ReachProblem(
                .damagedInTransit,
                "\(file) did not arrive at \(shell.name) as it was sent. Start the run again; if it happens again, "
                    + "check the disk and the memory there.")
        }
        throw ReachProblem(
            .agentNotPlaced,
            "pipectl's agent can't be put on \(shell.name): \(words) (exit code \(code)). "
                + "Check that its user may write to ~/.cache there.")
    }
}
