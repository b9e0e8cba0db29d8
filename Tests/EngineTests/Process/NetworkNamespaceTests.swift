#if os(Linux)
    import Foundation
    import Pipeline
    import SystemPackage
    import Testing

    @testable import Engine

    /// What sandboxes without a network have instead, and when the next one has it, too.
    @Suite(.enabled(if: geteuid() == 0), .timeLimit(.minutes(5)))
    struct NetworkNamespaceTests {
        private let networks = NetworkNamespaces()
        private let said = FileManager.default.temporaryDirectory.appending(path: "networks-\(UUID())").path

        private func words(_ command: [String], isOpen: Bool) throws -> [String] {
            let sandbox = Sandbox(program: nil, stepInit: RunFolder.stepInit.string, readable: [])
            return sandbox.command(
                SandboxPolicy(network: isOpen ? .allowed : .denied), mounts: [], user: try StepUsers().take(),
                lifetime: .withParent, directory: "/", command)
        }

        /// What a command says in a sandbox, and its network; it has ended.
        private func run(_ command: String..., isOpen: Bool = false) throws -> (
            said: [String], network: NetworkNamespace?
        ) {
            // A file and no pipe, whose other end anything that is started beside this test may hold for a while.
            let file = open(said, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
            #expect(file >= 0)
            defer {
                close(file)
                unlink(said)
            }
            var request = SpawnRequest(try words(command, isOpen: isOpen), descriptors: [(own: file, given: 1)])
            let network = networks.serve(&request)
            let pid = try request.start().get()
            var status: Int32 = 0
            #expect(waitpid(pid, &status, 0) == pid && status == 0)
            let text = try String(contentsOfFile: said, encoding: .utf8)
            return (text.split(separator: "\n").map(String.init), network)
        }

        private var ours: String? { try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/ns/net") }

        @Test func hasALoopbackAndNothingElse() throws {
            let (said, network) = try run("/bin/cat", "/proc/self/net/dev")
            #expect(network != nil)
            // Some kernels add ends of tunnels, which are not up.
            let names = said.dropFirst(2).map { $0.split(separator: ":")[0].drop { $0 == " " } }
            #expect(names.contains("lo") && names.allSatisfy { $0 == "lo" || $0.hasSuffix("0") }, "\(said)")
            let up = try run("/bin/cat", "/proc/self/net/route").said
            #expect(up.count <= 1, "no way leads out: \(up)")
            // Who may use the machine's network still has it.
            let open = try run("/bin/readlink", "/proc/self/ns/net", isOpen: true)
            #expect(open.said == [ours] && open.network == nil)
            // After "--" it is no option of the sandbox's.
            let inner = try run("/bin/sh", "-c", "readlink /proc/self/ns/net", "--", "--unshare-net", isOpen: true)
            #expect(inner.said == [ours] && inner.network == nil)
        }

        /// Without one of these, as in a sandbox that a command without a daemon starts.
        @Test func aSandboxMakesItsOwn() throws {
            let file = open(said, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
            defer {
                close(file)
                unlink(said)
            }
            let request = SpawnRequest(
                try words(["/bin/sh", "-c", "readlink /proc/self/ns/net; cat /proc/self/net/dev"], isOpen: false),
                descriptors: [(own: file, given: 1)])
            let pid = try request.start().get()
            var status: Int32 = 0
            #expect(waitpid(pid, &status, 0) == pid && status == 0)
            let text = try String(contentsOfFile: said, encoding: .utf8)
            let ours = try #require(ours)
            #expect(text.contains(" lo:") && !text.contains(ours), "\(text)")
        }

        @Test func theNextOneHasItIfNothingHasHappenedInIt() throws {
            let first = try run("/bin/readlink", "/proc/self/ns/net")
            #expect(first.said != [ours])
            networks.takeBack(try #require(first.network))
            let second = try run("/bin/readlink", "/proc/self/ns/net")
            #expect(second.said == first.said)
            // Nobody has said that the second one has ended.
            let third = try run("/bin/readlink", "/proc/self/ns/net")
            #expect(third.said != second.said)
            withExtendedLifetime(second.network) {}
        }

        /// Whoever could hand something to others may have handed on what shows the network from outside.
        @Test(arguments: [true, false])
        func nobodyHasOneOfASandboxThatWasNotAlone(_ wasAlone: Bool) throws {
            let first = try run("/bin/readlink", "/proc/self/ns/net")
            networks.takeBack(try #require(first.network))
            let sandbox = Sandbox(program: nil, stepInit: RunFolder.stepInit.string, readable: [])
            let host = StepHost(
                command: sandbox.command(
                    SandboxPolicy(), mounts: [], user: try StepUsers().take(), lifetime: .withSocket(groups: 0),
                    directory: "/", []),
                isEnclosed: true, networks: networks)
            try host.startNow()
            #expect(host.close(wasAlone: wasAlone))
            let second = try run("/bin/readlink", "/proc/self/ns/net")
            #expect((second.said == first.said) == wasAlone)
            withExtendedLifetime(first.network) {}
        }

        @Test func nobodyHasOneOfWhichASocketIsOpenElsewhere() throws {
            // It goes on while its sandbox is said to have ended, as does whoever a socket was handed to.
            var ends: [Int32] = [0, 0]
            #expect(pipe(&ends) == 0)
            for end in ends { #expect(fcntl(end, F_SETFD, FD_CLOEXEC) == 0) }
            let script = "exec 3<>/dev/udp/127.0.0.1/9; readlink /proc/self/ns/net; exec sleep 60"
            var request = SpawnRequest(
                try words(["/bin/bash", "-c", script], isOpen: false), descriptors: [(own: ends[1], given: 1)])
            let network = networks.serve(&request)
            let pid = try request.start().get()
            defer {
                kill(pid, SIGKILL)
                waitpid(pid, nil, 0)
                for end in ends { close(end) }
            }
            var said = pollfd(fd: ends[0], events: Int16(POLLIN), revents: 0)
            #expect(poll(&said, 1, 30_000) == 1, "it has its socket")
            var line = [UInt8](repeating: 0, count: 64)
            let count = read(ends[0], &line, line.count)
            let own = String(decoding: line.prefix(max(count - 1, 0)), as: UTF8.self)
            #expect(own.hasPrefix("net:[") && own != ours, "\(own)")
            networks.takeBack(try #require(network))
            let second = try run("/bin/readlink", "/proc/self/ns/net")
            #expect(second.said != [own])
        }

        @Test(
            arguments: [
                "echo x >/dev/udp/127.0.0.1/9", "! echo x >/dev/tcp/127.0.0.1/9", "! echo x >/dev/udp/192.0.2.1/9",
            ])
        func nobodyHasOneInWhichSomethingWasSent(_ script: String) throws {
            // Held until the end, or the kernel might give its number to another one.
            let first = try run(
                "/bin/bash", "-c", "readlink /proc/self/ns/net; \(script) 2>/dev/null")
            #expect(first.said.count == 1)
            let network = try #require(first.network)
            networks.takeBack(network)
            let second = try run("/bin/readlink", "/proc/self/ns/net")
            #expect(second.said != first.said && second.said != [ours])
            withExtendedLifetime(network) {}
        }
    }
#endif
