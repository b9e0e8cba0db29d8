import SystemCalls

/// The file that makes `pipectl watch` a service: a unit of systemd, or a property list of launchd.
///
/// The Debian package has the same unit: `script/package` prints it with `pipectl service install --print`.
package struct ServiceFile: Sendable, Equatable {
    /// Who starts the service.
    package enum Manager: String, Sendable, CaseIterable {
        /// systemd, for the machine.
        case system
        /// A user's own systemd.
        case user
        /// launchd, as an agent of the user who is logged in.
        case launchd
    }

    /// The service's name, and its unit's without the suffix.
    package static let name = "pipectl"
    /// The label that launchd knows the service by.
    package static let label = "dev.pipectl.watch"

    package var manager: Manager
    /// The absolute path of pipectl.
    package var executable: String
    /// `PATH` of the service, with the folder of the Swift compiler.
    package var searchPath: String
    /// The user that systemd starts the machine's service as.
    package var account: String
    /// `PIPECTL_HOME`; nil is the account's own state folder.
    package var state: String?
    /// The file for launchd's record of standard error.
    package var log: String?
    /// Whether it belongs to a package: then the package's settings file decides whether the service starts.
    package var isPackaged = false

    package init(
        _ manager: Manager, executable: String, searchPath: String, account: String = ServiceFile.name,
        state: String? = nil, log: String? = nil
    ) {
        self.manager = manager
        self.executable = executable
        self.searchPath = searchPath
        self.account = account
        self.state = state
        self.log = log
    }

    /// The service of the Debian package.
    package static var packaged: ServiceFile {
        var file = ServiceFile(
            .system, executable: "/usr/bin/pipectl", searchPath: "/opt/swift/usr/bin:/usr/local/bin:/usr/bin:/bin",
            state: "/var/lib/pipectl")
        file.isPackaged = true
        return file
    }

    /// Refuses what the file's format can't hold.
    ///
    /// - Throws: ``ServiceProblem`` with `.unusableValue`.
    package func check() throws(ServiceProblem) {
        for (name, value) in [
            ("the path of pipectl", executable), ("PATH", searchPath), ("the user", account),
            ("the state folder", state ?? ""), ("the log", log ?? ""),
        ] where value.unicodeScalars.contains(where: { $0.value < 0x20 || $0.value == 0x7f }) {
            throw ServiceProblem(
                .unusableValue, "\(name) has a line break or a control character; use one without, for example a link")
        }
        guard executable.hasPrefix("/") else {
            throw ServiceProblem(.unusableValue, "a service starts pipectl by its absolute path, not \"\(executable)\"")
        }
    }

    /// Refuses a machine's service whose user does not exist: systemd could not start it.
    ///
    /// - Throws: ``ServiceProblem`` with `.unknownUser`.
    package func checkAccount(
        _ exists: (String) -> Bool = { SystemUser.find(named: $0) != nil }
    ) throws(ServiceProblem) {
        guard manager == .system, !exists(account) else { return }
        throw ServiceProblem(
            .unknownUser,
            "this machine has no user \"\(account)\"; make one with a home folder, or name another with --account"
        )
    }

    /// The state folder that a new service is given; nil is the account's own.
    ///
    /// - Parameters:
    ///   - given: What a person named.
    ///   - inherited: `PIPECTL_HOME` of the person's environment, which no other user's service takes over.
    ///   - account: The user that the service runs as; nil if the manager runs it as its owner.
    ///   - own: The name of the user who asks.
    package static func state(given: String?, inherited: String?, account: String?, own: String?) -> String? {
        given ?? (account == nil || account == own ? inherited : nil)
    }

    /// The file's whole text.
    package var text: String { manager == .launchd ? propertyList : unit }

    // MARK: systemd

    private var unit: String {
        ([unitSection, serviceSection, limitsSection] + (manager == .system ? [hardeningSection] : [])
            + (isPackaged ? [credentialsSection] : []) + [installSection])
            .joined(separator: "\n\n") + "\n"
    }

    private var unitSection: String {
        var lines = ["[Unit]", "Description=pipectl"]
        // A user's own systemd does not know the machine's targets.
        if manager == .system { lines += ["After=network-online.target", "Wants=network-online.target"] }
        if isPackaged { lines.append("ConditionPathExists=/etc/pipectl/config.json") }
        return lines.joined(separator: "\n")
    }

    private var serviceSection: String {
        var lines = ["[Service]", "Type=notify"]
        if manager == .system { lines.append("User=\(account)") }
        if isPackaged { lines.append("StateDirectory=pipectl") }
        if isPackaged { lines.append("StateDirectoryMode=0700") }
        // systemd refuses `~` for root.
        let home = manager == .system && account == "root" ? "/root" : "~"
        lines.append("WorkingDirectory=\(isPackaged ? "/var/lib/pipectl" : home)")
        lines.append("Environment=\(Self.assignment("PATH", searchPath))")
        if let state { lines.append("Environment=\(Self.assignment("PIPECTL_HOME", state))") }
        if isPackaged {
            lines.append("Environment=PIPECTL_CONFIG=/etc/pipectl/config.json")
            lines.append("EnvironmentFile=-/etc/pipectl/environment")
        }
        lines += [
            "ExecStart=\(Self.word(executable)) watch", "TimeoutStartSec=infinity", "Restart=always", "RestartSec=5",
        ]
        return lines.joined(separator: "\n")
    }

    private var limitsSection: String {
        """
        Delegate=yes
        TasksMax=infinity

        KillMode=mixed
        TimeoutStopSec=15min
        """
    }

    private var hardeningSection: String {
        """
        NoNewPrivileges=yes
        ProtectSystem=full
        ProtectKernelModules=yes
        PrivateTmp=yes
        LockPersonality=yes
        """
    }

    private var credentialsSection: String {
        """
        # Secrets of steps and forges, which only this service can read; in a file of `systemctl edit pipectl`:
        #LoadCredential=NAME:/etc/pipectl/credentials/NAME
        #LoadCredentialEncrypted=NAME:/etc/credstore.encrypted/NAME
        """
    }

    private var installSection: String {
        "[Install]\nWantedBy=\(manager == .system ? "multi-user.target" : "default.target")"
    }

    /// A word of `ExecStart=`, which systemd does not split or expand: systemd.service(5), "Command lines".
    static func word(_ text: String) -> String { quoted(text.replacing("$", with: "$$")) }

    /// An assignment of `Environment=`: systemd.exec(5).
    static func assignment(_ name: String, _ value: String) -> String { quoted("\(name)=\(value)") }

    private static func quoted(_ text: String) -> String {
        let plain = text.replacing("%", with: "%%")
        let isWord = plain.unicodeScalars.allSatisfy { $0.properties.isAlphabetic || $0.isASCII && $0.value > 0x20 }
        if isWord, !plain.contains("\""), !plain.contains("'"), !plain.contains("\\") { return plain }
        return "\"\(plain.replacing("\\", with: "\\\\").replacing("\"", with: "\\\""))\""
    }

    // MARK: launchd

    private var propertyList: String {
        var keys = """
            <key>Label</key><string>\(Self.label)</string>
            <key>ProgramArguments</key><array><string>\(Self.escaped(executable))</string><string>watch</string></array>
            <key>EnvironmentVariables</key><dict>
                <key>PATH</key><string>\(Self.escaped(searchPath))</string>
            """
        if let state { keys += "\n    <key>PIPECTL_HOME</key><string>\(Self.escaped(state))</string>" }
        keys += """

            </dict>
            <key>RunAtLoad</key><true/>
            <key>KeepAlive</key><true/>
            <key>ProcessType</key><string>Standard</string>
            <key>ExitTimeOut</key><integer>900</integer>
            """
        if let log { keys += "\n<key>StandardErrorPath</key><string>\(Self.escaped(log))</string>" }
        return """
            <?xml version="1.0" encoding="UTF-8"?>
            <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
            <plist version="1.0"><dict>
            \(keys)
            </dict></plist>

            """
    }

    private static func escaped(_ text: String) -> String {
        text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
    }
}
