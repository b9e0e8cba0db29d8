#if os(Linux)
    import Foundation
    import SystemPackage
    import Testing

    @testable import Engine

    /// What sandboxes without a network have instead, and when the next one has it, too.
    @Suite(.enabled(if: geteuid() == 0), .timeLimit(.minutes(5)))
    struct NetworkNamespaceTests {
        private let folder = FileManager.default.temporaryDirectory.appending(path: "networks-\(UUID())").path
        private let namespace: LeanNamespace

        init() { namespace = LeanNamespace(at: folder) }

        /// What a command says, and its network; it has ended.
        private func run(_ words: String...) throws -> (said: [String], network: NetworkNamespace?) {
            defer { try? FileManager.default.removeItem(atPath: folder) }
            // A file and no pipe, whose other end anything that is started beside this test may hold for a while.
            let path = "\(folder)-said"
            let file = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
            #expect(file >= 0)
            defer {
                close(file)
                unlink(path)
            }
            let request = SpawnRequest(words, descriptors: [(own: file, given: 1)])
            let process = try #require(namespace.start(request, showing: ["/bin", "/dev/null"])).get()
            var status: Int32 = 0
            #expect(waitpid(process.pid, &status, 0) == process.pid && status == 0)
            let text = try String(contentsOfFile: path, encoding: .utf8)
            return (text.split(separator: "\n").map(String.init), process.network)
        }

        private var ours: String? { try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/ns/net") }

        @Test func hasALoopbackAndNothingElse() throws {
            let (said, network) = try run("/bin/cat", "--unshare-net", "/proc/self/net/dev")
            #expect(network != nil)
            // Some kernels add ends of tunnels, which are not up.
            let names = said.dropFirst(2).map { $0.split(separator: ":")[0].drop { $0 == " " } }
            #expect(names.contains("lo") && names.allSatisfy { $0 == "lo" || $0.hasSuffix("0") }, "\(said)")
            let up = try run("/bin/cat", "--unshare-net", "/proc/self/net/route").said
            #expect(up.count <= 1, "no way leads out: \(up)")
            // Who may use the machine's network still finds it, from the same thread.
            let open = try run("/bin/readlink", "/proc/self/ns/net")
            #expect(open.said == [ours] && open.network == nil)
            // After "--" it is no option of the sandbox's.
            let inner = try run("/bin/sh", "-c", "readlink /proc/self/ns/net", "--", "--unshare-net")
            #expect(inner.said == [ours] && inner.network == nil)
        }

        @Test func theNextOneHasItIfNothingHasHappenedInIt() throws {
            let first = try run("/bin/readlink", "--unshare-net", "/proc/self/ns/net")
            #expect(first.said != [ours])
            namespace.takeBack(try #require(first.network))
            let second = try run("/bin/readlink", "--unshare-net", "/proc/self/ns/net")
            #expect(second.said == first.said)
            // Nobody has said that the second one has ended.
            let third = try run("/bin/readlink", "--unshare-net", "/proc/self/ns/net")
            #expect(third.said != second.said)
            withExtendedLifetime(second.network) {}
        }

        @Test func nobodyHasOneOfWhichASocketIsOpenElsewhere() throws {
            // It goes on while its sandbox is said to have ended, as does whoever a socket was handed to.
            var ends: [Int32] = [0, 0]
            #expect(pipe(&ends) == 0)
            for end in ends { #expect(fcntl(end, F_SETFD, FD_CLOEXEC) == 0) }
            let request = SpawnRequest(
                ["/bin/bash", "--unshare-net", "-c", "exec 3<>/dev/udp/127.0.0.1/9; echo; exec sleep 60"],
                descriptors: [(own: ends[1], given: 1)])
            let process = try #require(namespace.start(request, showing: ["/bin", "/dev/null"])).get()
            defer {
                kill(process.pid, SIGKILL)
                waitpid(process.pid, nil, 0)
                for end in ends { close(end) }
                try? FileManager.default.removeItem(atPath: folder)
            }
            var said = pollfd(fd: ends[0], events: Int16(POLLIN), revents: 0)
            #expect(poll(&said, 1, 30_000) == 1, "it has its socket")
            let own = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(process.pid)/ns/net")
            #expect(own != ours)
            namespace.takeBack(try #require(process.network))
            let second = try run("/bin/readlink", "--unshare-net", "/proc/self/ns/net")
            #expect(second.said != [own])
        }

        @Test(
            arguments: [
                "echo x >/dev/udp/127.0.0.1/9", "! echo x >/dev/tcp/127.0.0.1/9", "! echo x >/dev/udp/192.0.2.1/9",
            ])
        func nobodyHasOneInWhichSomethingWasSent(_ script: String) throws {
            // Held until the end, or the kernel might give its number to another one.
            let first = try run(
                "/bin/bash", "--unshare-net", "-c", "readlink /proc/self/ns/net; \(script) 2>/dev/null")
            #expect(first.said.count == 1)
            let network = try #require(first.network)
            namespace.takeBack(network)
            let second = try run("/bin/readlink", "--unshare-net", "/proc/self/ns/net")
            #expect(second.said != first.said && second.said != [ours])
            withExtendedLifetime(network) {}
        }
    }
#endif
