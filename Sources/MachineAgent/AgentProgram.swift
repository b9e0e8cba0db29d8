import Foundation
import Layers
import MachineProtocol
import StateFiles
import SystemCalls

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// The program `pipectl-agent`: its options, and its standard input and output.
package enum AgentProgram {
    private static let usage = """
        usage: pipectl-agent [--folder FOLDER] [--shared FOLDER] [--readable FOLDER]... [--listen FOLDER [--patience SECONDS]]
               pipectl-agent --connect FOLDER | --protocol
          --folder FOLDER    where mirrors, caches and workspaces are (default: pipectl-agent in the user's caches)
          --shared FOLDER    where mirrors and outputs are instead, for agents on several machines
          --readable FOLDER  a folder that sandboxes show beside the system, for example a toolchain
          --listen FOLDER    serves whoever connects to the socket in a folder of this user alone, and outlives connections
          --patience SECONDS how long it lives without one (default: 600)
          --connect FOLDER   carries bytes between standard input and output and that socket
          --protocol         prints the version of the protocol and the platform, and ends
        The daemon of pipectl starts it and speaks to it over standard input and output.
        """

    /// What the program was asked for.
    private struct Options {
        var folder = AgentProgram.defaultFolder
        var shared: String?
        var readable: [String] = []
        var listen: String?
        var patience = Duration.seconds(600)
        var connect: String?

        init(_ arguments: [String]) {
            var rest = arguments[...]
            while let option = rest.popFirst() {
                func path() -> String {
                    guard let value = rest.popFirst(), value.hasPrefix("/") else {
                        refuse("\(option) needs an absolute path")
                    }
                    return value
                }
                switch option {
                case "--protocol":
                    print("\(MachineProtocolVersion.current) \(ThisMachine.platform) \(ThisMachine.architecture)")
                    exit(0)
                case "--folder": folder = path()
                case "--shared": shared = path()
                case "--readable": readable.append(path())
                case "--listen": listen = path()
                case "--connect": connect = path()
                case "--patience":
                    guard let value = rest.popFirst().flatMap(Double.init), (0...86_400).contains(value) else {
                        refuse("--patience needs seconds")
                    }
                    patience = .seconds(value)
                default: refuse("\(option) is no option")
                }
            }
        }
    }

    /// Serves one run and ends the process.
    package static func run(_ arguments: [String]) async -> Never {
        if arguments.count == 2, arguments[0] == CheckoutProcess.command { checkOut(arguments[1]) }
        let options = Options(arguments)
        if isatty(0) == 1 {
            refuse("it is started by the daemon on the machines that `pipectl machines add` names, not from a terminal")
        }
        forgetCarriedLibraries()
        // Steps are other users where this one is root, and git in them reads the mirror.
        _ = umask(0o022)
        do {
            let (input, output) = try takeStandardStreams()
            if let folder = options.connect { try AgentRelay(folder: folder).carry(input: input, output: output) }
            // Before anything slow: the relay waits for the socket.
            let room = try options.listen.map { try AgentRoom($0) }
            let service = try await AgentService.prepare(
                folder: AgentFolder(path: options.folder, shared: options.shared), stepInit: Installation.stepInit(),
                readable: options.readable)
            guard let room else { exit(await service.serve(input: input, output: output)) }
            exit(await service.serve(in: room, patience: options.patience))
        } catch {
            say("\(error)")
            exit(1)
        }
    }

    /// Checks out a large commit, as a child of an agent.
    private static func checkOut(_ request: String) -> Never {
        do {
            try endingWithParent { try CheckoutProcess.perform(request) }
            exit(0)
        } catch {
            FileHandle.standardError.write(Data("\(error)\n".utf8))
            exit(CheckoutProcess.exitCode(for: error))
        }
    }

    /// Where the daemon brought libraries together with this program, steps must not find them.
    private static func forgetCarriedLibraries() {
        let own = URL(fileURLWithPath: Installation.executable).deletingLastPathComponent().path
        if let folder = ProcessInfo.processInfo.environment["LD_LIBRARY_PATH"],
            URL(fileURLWithPath: folder).resolvingSymlinksInPath().path == own
        {
            unsetenv("LD_LIBRARY_PATH")
        }
    }

    private static func refuse(_ what: String) -> Never {
        say("\(what)\n\(usage)")
        exit(2)
    }

    static func say(_ text: String) {
        FileHandle.standardError.write(Data("pipectl-agent: \(text)\n".utf8))
    }

    /// The standard input and output under other numbers, so that nothing else in this process reads or prints there.
    private static func takeStandardStreams() throws -> (input: Descriptor, output: Descriptor) {
        let (input, output) = (fcntl(0, F_DUPFD_CLOEXEC, 10), fcntl(1, F_DUPFD_CLOEXEC, 10))
        guard input >= 0, output >= 0 else { throw SystemFailure("fcntl") }
        let nothing = open("/dev/null", O_RDWR | O_CLOEXEC)
        guard nothing >= 0, dup2(nothing, 0) == 0, dup2(2, 1) == 1 else { throw SystemFailure("dup2") }
        close(nothing)
        for file in [input, output] { _ = fcntl(file, F_SETFL, fcntl(file, F_GETFL) & ~O_NONBLOCK) }
        return (Descriptor(input), Descriptor(output))
    }

    private static var defaultFolder: String {
        let environment = ProcessInfo.processInfo.environment
        let home = environment["HOME"] ?? NSHomeDirectory()
        #if os(macOS)
            return "\(home)/Library/Caches/pipectl-agent"
        #else
            let caches = environment["XDG_CACHE_HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil } ?? "\(home)/.cache"
            return "\(caches)/pipectl-agent"
        #endif
    }
}
