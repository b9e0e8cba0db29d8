/// One way out of a sandbox that is tried: a shell script, run as a step of a change.
///
/// The script says of each thing it tries whether it was refused (see ``library``), so one that never got to trying it
/// counts as nothing. Where it can be, the same script is run outside the sandbox first and has to succeed there.
struct EscapeAttempt: Sendable {
    /// Who succeeds with it outside the sandbox.
    enum Control: Sendable {
        /// Whoever the box runs as.
        case anyone
        /// Only a box that is root.
        case root
        /// Nobody is let try: it would do harm to this machine, or only makes sense inside.
        case none
    }

    /// Also the step's name; a word.
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

    /// What the script tries, by the labels it gives.
    var labels: [String] {
        script.split(separator: "\n").compactMap { line in
            let words = line.split(separator: " ")
            return words.count > 2 && ["try", "holds"].contains(words[0]) ? String(words[1]) : nil
        }
    }

    /// `try LABEL COMMAND…` says how a command ended that must not succeed, `holds LABEL COMMAND…` one that must.
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
