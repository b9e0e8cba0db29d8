import Foundation
import TestBasics
import Testing

@testable import MachineLinks
import MachinePool

@Suite struct SSHTests {
    // MARK: Addresses

    @Test(arguments: [
        ("ssh://ci@mac-mini.example:2222", "ci", "mac-mini.example", 2222), ("mac", nil, "mac", 22),
        ("ci@10.0.0.7", "ci", "10.0.0.7", 22), ("ssh://[2001:db8::1]:22", nil, "2001:db8::1", 22),
        ("ssh://a.b@host/", "a.b", "host", 22),
    ]) func anAddressIsRead(_ text: String, _ user: String?, _ host: String, _ port: Int) throws {
        let address = try SSHAddress(text)
        #expect(address.user == user)
        #expect(address.host == host)
        #expect(address.port == port)
        #expect(try SSHAddress(address.description) == address)
    }

    @Test(arguments: [
        "", "ssh://", "-oProxyCommand=x", "ssh://-oProxyCommand=x", "a b", "host:0", "host:70000", "host:22:22", "a;b",
        "u ser@host", "-u@host", "host\n", "$(id)", "[::1", "[::1]x", "host/path", "host:",
    ]) func whatIsNoAddressIsRefused(_ text: String) {
        #expect(throws: AddressProblem.self) { try SSHAddress(text) }
    }

    // MARK: The client

    @Test func nothingIsForwardedAndOnlyPinnedKeysCount() throws {
        let shell = SSHShell(
            address: try SSHAddress("ci@host"),
            settings: SSHSettings(knownHosts: "/s/known", identity: "/s/key", sockets: "/run/x", environment: [:]))
        let options = shell.options
        for wanted in [
            "BatchMode=yes", "StrictHostKeyChecking=yes", "UserKnownHostsFile=\"/s/known\"",
            "GlobalKnownHostsFile=/dev/null", "UpdateHostKeys=no", "ForwardAgent=no", "ForwardX11=no",
            "ClearAllForwardings=yes", "PermitLocalCommand=no", "IdentitiesOnly=yes",
        ] { #expect(options.contains(wanted)) }
        #expect(options.starts(with: ["-F", "none", "-T"]))
    }

    @Test func aSocketThatWouldNotFitIsNotUsed() throws {
        let address = try SSHAddress("host")
        func shell(_ folder: String) -> SSHShell {
            SSHShell(address: address, settings: SSHSettings(knownHosts: "/k", sockets: folder, environment: [:]))
        }
        let path = try #require(shell("/run/user/1000/pipectl").socket)
        #expect(path.utf8.count + 17 <= 103)
        let long = shell("/" + String(repeating: "a", count: 90))
        #expect(long.socket == nil)
        #expect(long.options.contains("ControlPath=none"))
        #expect(shell("/run/%h").socket == nil)
    }

    @Test(arguments: ["it's", "a b", "$(id)", "`id`", "", "'", "\\", "é\n"])
    func aWordIsOneWord(_ text: String) async throws {
        let ended = try await CommandRunner().end(of: [
            "/bin/sh", "-c", ShellText.line("printf '<%s>' " + ShellText.word(text)),
        ])
        #expect(ended.output == "<\(text)>")
    }

    // MARK: Failures

    @Test(
        arguments: [
            ("@ WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED! @\nHost key verification failed.", .hostKeyChanged),
            (
                "No ED25519 host key is known for h and you have requested strict checking.\nHost key verification failed.",
                .hostKeyUnknown
            ),
            ("root@h: Permission denied (publickey).", .keyRefused),
            ("ssh: Could not resolve hostname h: Name or service not known", .nameUnknown),
            ("ssh: connect to host h port 22: Connection refused", .unreachable),
            ("ssh: connect to host h port 22: No route to host", .unreachable),
            ("Connection timed out during banner exchange", .unreachable), ("", .unreachable),
        ] as [(String, ReachProblem.Code)])
    func failuresAreToldApart(_ complaint: String, _ code: ReachProblem.Code) {
        #expect(SSHFailure.problem(of: "ssh://h", complaint).code == code)
    }

    @Test func whatAMachineSaysIsShortAndHasNoControlCharacters() {
        let problem = SSHFailure.problem(of: "ssh://h", String(repeating: "x", count: 9_000) + "\u{1B}[2J")
        #expect(problem.description.count < 500)
        #expect(!problem.description.contains("\u{1B}"))
    }

    // MARK: What a machine says about itself

    @Test func aMachineTellsItsPlatformAndItsAgents() throws {
        let place = try AgentPlacing.place(
            from:
                "welcome\npipectl-machine Darwin arm64\npipectl-machine-folder agent-12\npipectl-machine-installed /opt/my pipectl/pipectl-agent\n",
            of: "m")
        #expect(place.platform == MachinePlatform(system: "Darwin", machine: "arm64"))
        #expect(place.folders == ["agent-12"])
        #expect(place.installed == "/opt/my pipectl/pipectl-agent")
    }

    @Test(
        arguments: [
            ("hello from .bashrc\n", .unknownAnswer), ("", .unknownAnswer),
            ("This account is not available.\n", .unknownAnswer), ("pipectl-machine Linux\n", .unknownAnswer),
        ] as [(String, ReachProblem.Code)])
    func anotherAnswerIsAProblem(_ output: String, _ code: ReachProblem.Code) {
        let problem = #expect(throws: ReachProblem.self) { try AgentPlacing.place(from: output, of: "m") }
        #expect(problem?.code == code)
    }

    @Test func processorsHaveOneNameOnAllSystems() {
        #expect(
            MachinePlatform(system: "Linux", machine: "aarch64").architecture
                == MachinePlatform(system: "Darwin", machine: "arm64").architecture)
        #expect(MachinePlatform(system: "Linux", machine: "riscv64").architecture == "riscv64")
    }

    // MARK: Keys

    private static let key = "AAAAC3NzaC1lZDI1NTE5AAAAIJ05k7Gga0cRmqe59XuFQU6QjbDHwyR8wJXIkGPzjHa0"

    @Test func keysAreReadAndOthersAreNot() {
        let keys = HostKeys.keys(
            in: """
                # host:22 SSH-2.0-OpenSSH_9.2p1
                host ssh-ed25519 \(Self.key)
                host ssh-rsa \(Self.key)
                host ssh-ed25519 !!!
                host ssh-ed25519
                """)
        #expect(keys.map(\.text) == [Self.key])
    }

    @Test(.enabled(if: succeeds(["sh", "-c", "command -v ssh-keygen"]), "ssh-keygen is missing"))
    func aFingerprintIsThatOfSSH() async throws {
        let key = try #require(HostKey(kind: "ssh-ed25519", text: Self.key))
        let shown = try await runCommand("ssh-keygen", "-lf", "-", input: "ssh-ed25519 \(Self.key)\n")
        #expect(shown.contains(" \(key.fingerprint) "))
    }

    @Test func aMachineHasOnlyTheKeysThatWerePinnedLast() async throws {
        try await withTemporaryFolder { folder in
            let known = KnownHosts("\(folder)/known hosts")
            let (one, two) = (try SSHAddress("a"), try SSHAddress("a:2222"))
            let key = try #require(HostKey(kind: "ssh-ed25519", text: Self.key))
            #expect(try known.keys(of: one).isEmpty)
            try known.pin([key], for: one)
            try known.pin([key], for: one)
            try known.pin([key], for: two)
            #expect(try known.keys(of: one) == [key])
            try known.remove(one)
            #expect(try known.keys(of: one).isEmpty)
            #expect(try known.keys(of: two) == [key])
        }
    }
}
