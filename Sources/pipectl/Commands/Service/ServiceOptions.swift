import ArgumentParser
import Client
import Foundation
import ProjectSetup
import Sandbox
import StateFiles
import SystemCalls
import TerminalText
import WorkflowPrograms

/// Which service is meant.
struct ServiceOptions: ParsableArguments {
    @Flag(help: "The machine's service, of systemd; takes root. The default for root.") var system = false
    @Flag(help: "A service of your own systemd. The default for everybody else.") var user = false
    @Option(
        help: ArgumentHelp(
            "The user that the machine's service runs as. Default: who called sudo.", valueName: "name"))
    var account: String?
    @Option(
        help: ArgumentHelp(
            "The service's state folder. Default: your $PIPECTL_HOME if it runs as you, else its user's own.",
            valueName: "folder"))
    var state: String?
    @Flag(help: .hidden) var packaged = false

    func validate() throws {
        if system, user { throw ValidationError("--system and --user exclude each other") }
        if account != nil, user { throw ValidationError("--account is for the machine's service: --system") }
        #if os(macOS)
            if system || user { throw ValidationError("launchd has one kind of service here: leave the flag out") }
        #endif
    }

    private var manager: ServiceFile.Manager {
        #if os(macOS)
            .launchd
        #else
            system || !user && geteuid() == 0 ? .system : .user
        #endif
    }

    /// The service's file.
    ///
    /// - Parameter isNew: Whether the file is to be written, so that all its values must be right.
    func file(isNew: Bool) async throws -> ServiceFile {
        if packaged { return .packaged }
        let environment = ProcessInfo.processInfo.environment
        var name = ServiceFile.name
        if manager == .system, let given = account ?? environment["SUDO_USER"] {
            name = given
        } else if manager == .system, isNew {
            throw CommandEnd(
                code: 2, message: "say which user the service runs as: --account NAME, with a home folder of its own")
        }
        var folders: [String] = []
        if let found = try? await Toolchain.find().swiftc {
            folders.append(URL(fileURLWithPath: found).deletingLastPathComponent().path)
        }
        for usual in ["/usr/local/bin", "/usr/bin", "/bin"] where !folders.contains(usual) { folders.append(usual) }
        let home = ServiceFile.state(
            given: state.map { URL(fileURLWithPath: $0).standardizedFileURL.path },
            inherited: environment["PIPECTL_HOME"], account: manager == .system ? name : nil,
            own: geteuid() == 0 ? environment["SUDO_USER"] ?? "root" : SystemUser.find(geteuid())?.name)
        if isNew, home == nil, let dropped = environment["PIPECTL_HOME"] {
            Terminal.say(
                "PIPECTL_HOME=\(TerminalText.name(dropped)) is not the folder of \(name)'s service; --state names one")
        }
        let file = ServiceFile(
            manager, executable: Installation.executable, searchPath: folders.joined(separator: ":"), account: name,
            state: home, log: manager == .launchd ? "\(NSHomeDirectory())/Library/Logs/pipectl.log" : nil)
        if isNew {
            try file.check()
            try file.checkAccount()
        }
        return file
    }

    func installation(of file: ServiceFile) -> ServiceInstallation {
        let words = file.manager.command.split(separator: " ").map(String.init)
        return ServiceInstallation(file, home: NSHomeDirectory()) { sentence in
            Terminal.say(TerminalText.name(sentence))
        } manager: { arguments in
            // A stop waits until the runs that go on have ended, for up to 15 minutes.
            try await ExternalCommand(
                words[0], Array(words.dropFirst()) + arguments, deadline: .seconds(1_000)
            ).run()
        }
    }
}
