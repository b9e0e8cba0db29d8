#if os(macOS)
    import Pipeline

    /// A profile for sandbox-exec(1), which filters access to files and the network by rules. It has no mounts and no
    /// namespaces.
    ///
    /// sandbox-exec can't be nested, so `swift build` inside it needs `--disable-sandbox`.
    struct SandboxExec {
        let sandbox: Sandbox
        let policy: SandboxPolicy
        let mounts: [SandboxMount]
        let user: StepUser?

        func command(_ words: [String]) -> [String] {
            var options: [String] = []
            if let user { options += ["--user", "\(user.user):\(user.group)"] }
            return [sandbox.program, "-p", profile, sandbox.stepInit] + options + (words.isEmpty ? [] : ["--"] + words)
        }

        private var profile: String {
            var rules = [
                "(version 1)", "(deny default)", "(import \"system.sb\")", "(allow process-exec process-fork)",
                "(allow signal (target same-sandbox))", "(allow sysctl-read)", "(allow mach-lookup)",
                "(allow file-read-metadata)", "(allow file-ioctl (literal \"/dev/tty\"))",
                "(allow file-read* file-write-data (literal \"/dev/null\") (literal \"/dev/zero\"))",
                "(allow pseudo-tty)",
            ]
            let system = [
                "/usr", "/bin", "/sbin", "/System", "/Library/Developer", "/Library/Apple", "/Applications/Xcode.app",
                "/private/etc/ssl", "/private/etc/localtime", "/private/var/select", "/private/var/db/timezone",
                "/opt/homebrew", "/dev",
            ]
            for path in system + sandbox.readable + [sandbox.stepInit] + mounts.map(\.source) {
                rules.append("(allow file-read* \(subpath(path)))")
            }
            for mount in mounts where mount.access == .write {
                rules.append("(allow file-write* \(subpath(mount.source)))")
            }
            if policy.network == .allowed { rules.append("(allow network*)") }
            for target in policy.reachable.sorted() {
                let kind = target.hasPrefix("/") ? "literal" : "remote ip"
                rules.append("(allow network-outbound (\(kind) \(quoted(target))))")
            }
            return rules.joined(separator: "\n")
        }

        private func subpath(_ path: String) -> String { "(subpath \(quoted(path)))" }

        private func quoted(_ text: String) -> String {
            let escaped = text.map { $0 == "\\" || $0 == "\"" ? "\\\($0)" : String($0) }.joined()
            return "\"\(escaped)\""
        }
    }
#endif
