/// One attempt to get out of a sandbox: a shell script that runs as a step of a change.
///
/// The script reports for each thing it tries whether it was refused (see ``library``), so a script that fails earlier
/// does not count as refused. If possible, the same script is first run outside the sandbox, where it must succeed.
struct EscapeAttempt: Sendable {
    /// Which user succeeds with it outside the sandbox.
    enum Control: Sendable {
        /// Every user.
        case anyone
        /// Only root.
        case root
        /// It is not tried outside: it would harm this machine, or makes sense only inside.
        case none
    }

    /// One word, which is also the step's name.
    var name: String
    var control = Control.none
    /// Whether the step is allowed to use the network.
    var hasNetwork = false
    var script: String

    init(_ name: String, control: Control = .none, hasNetwork: Bool = false, _ script: String) {
        self.name = name
        self.control = control
        self.hasNetwork = hasNetwork
        self.script = script
    }

    /// The labels of everything that the script tries.
    var labels: [String] {
        script.split(separator: "\n").compactMap { line in
            let words = line.split(separator: " ")
            return words.count > 2 && ["try", "holds"].contains(words[0]) ? String(words[1]) : nil
        }
    }

    /// `try LABEL COMMAND…` reports how a command ended that must fail; `holds LABEL COMMAND…` does so for one that
    /// must succeed.
    static let library = """
        export LC_ALL=C
        said() { printf %s "$1" | tr -cd '[:print:]\\n' | tail -n 1 | cut -c 1-160; }
        try() {
            label=$1; shift
            if out=$("$@" 2>&1); then echo "ESCAPED $label: $(said "$out")"
            else code=$?; echo "refused $label: $(said "$out") ($code)"; fi
        }
        holds() {
            label=$1; shift
            if out=$("$@" 2>&1); then echo "refused $label: $(said "$out") (held)"
            else echo "ESCAPED $label: $(said "$out")"; fi
        }

        """
}

/// What an attempt printed, line by line.
struct EscapeEvidence {
    let refused: Set<String>
    let escaped: Set<String>
    let text: String

    init(_ text: String) {
        self.text = text
        func labels(_ word: String) -> Set<String> {
            Set(
                text.split(separator: "\n").compactMap { line in
                    guard line.hasPrefix("\(word) ") else { return nil }
                    return line.dropFirst(word.count + 1).prefix { $0 != ":" && $0 != " " }.isEmpty
                        ? nil : String(line.dropFirst(word.count + 1).prefix { $0 != ":" && $0 != " " })
                })
        }
        refused = labels("refused")
        escaped = labels("ESCAPED")
    }
}
