#if os(Linux)
    import Foundation
    import Synchronization
    import SystemPackage
    import Testing

    @testable import Engine

    /// Groups of version 1, the only ones that serve several runs; where there are none, nothing is tested.
    @Suite(.serialized, .timeLimit(.minutes(1)))
    struct ControlGroupTests {
        private func withGroups(_ body: (ControlGroups) throws -> Void) async throws {
            guard let groups = try? await ControlGroups.find(environment: [SystemdScope.variable: "none"]),
                groups.kind == "cgroup v1"
            else { return }
            try body(groups)
            let folders = try groups.run(named: "last", nil).folders.values
            groups.giveBack("last", mayServe: false)
            groups.close()
            for folder in folders { #expect(!FileManager.default.fileExists(atPath: folder)) }
        }

        private func text(_ name: String, of folder: String?) throws -> String {
            try String(contentsOfFile: try #require(folder) + "/" + name, encoding: .utf8)
                .trimmingCharacters(in: .whitespacesAndNewlines)
        }

        /// Runs a shell line in the group; its process is the caller's to wait for.
        private func start(_ line: String, in group: ControlGroup) throws -> pid_t {
            let entering = group.folders.values.map { "echo 0 > '\($0)/tasks'; " }.joined()
            return try SpawnRequest(["/bin/sh", "-c", entering + line], descriptors: []).start().get()
        }

        @Test func oneServesTheNextRunWithThatsLimits() async throws {
            try await withGroups { groups in
                let first = try groups.run(named: "first", GroupLimits(memory: 64 << 20, processes: 20))
                #expect(try text("memory.limit_in_bytes", of: first.folders[.memory]) == "\(64 << 20)")
                #expect(try text("pids.max", of: first.folders[.pids]) == "20")
                let worker = try start("i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done", in: first)
                #expect(waitpid(worker, nil, 0) == worker)
                #expect(first.usage.cpuTime > 0)
                groups.giveBack("first", mayServe: true)
                for limits in [
                    GroupLimits(memory: 256 << 20, processes: 30), GroupLimits(memory: 32 << 20, processes: nil),
                    GroupLimits(),
                ] {
                    // As what waits for a run has it first.
                    #expect(try groups.run(named: "next", nil).folders == first.folders)
                    let next = try groups.run(named: "next", limits)
                    #expect(next.folders == first.folders)
                    #expect(next.usage == GroupUsage())
                    let memory = try text("memory.limit_in_bytes", of: next.folders[.memory])
                    #expect(limits.memory.map { memory == String($0) } ?? (memory.count > 15))
                    let processes = limits.processes.map(String.init) ?? "max"
                    #expect(try text("pids.max", of: next.folders[.pids]) == processes)
                    groups.giveBack("next", mayServe: true)
                }
            }
        }

        @Test func runsAtTheSameTimeHaveTheirOwn() async throws {
            try await withGroups { groups in
                let both = try ["one", "two"].map { try groups.run(named: $0, GroupLimits()) }
                #expect(both[0].folders != both[1].folders)
                for name in ["one", "two"] { groups.giveBack(name, mayServe: true) }
            }
        }

        @Test func whatAnotherProcessLeftIsNotTaken() async throws {
            try await withGroups { groups in
                let first = try groups.run(named: "first", GroupLimits())
                let folder = try #require(first.folders[.pids])
                let number = try #require(folder.split(separator: "-").last.flatMap { Int($0) })
                let left = folder.dropLast("\(number)".count) + "\(number + 1)"
                #expect(mkdir(String(left), 0o755) == 0)
                let second = try groups.run(named: "second", GroupLimits())
                #expect(second.folders[.pids] != String(left))
                #expect(rmdir(String(left)) == 0)
                for name in ["first", "second"] { groups.giveBack(name, mayServe: false) }
            }
        }

        @Test(arguments: ["a process", "a group", "memory", "a refusal", "no sandbox"])
        func oneThatIsNotAsNewServesNobody(_ left: String) async throws {
            try await withGroups { groups in
                let first = try groups.run(named: "first", GroupLimits(memory: 64 << 20, processes: 20))
                var worker: pid_t = 0
                var ends: [Int32] = [-1, -1]
                #expect(pipe(&ends) == 0)
                defer { ends.forEach(closeFile) }
                let file = FileManager.default.temporaryDirectory.appending(path: "group-\(UUID())").path
                defer { try? FileManager.default.removeItem(atPath: file) }
                switch left {
                case "a process":
                    let request = SpawnRequest(
                        [
                            "/bin/sh", "-c",
                            first.folders.values.map { "echo 0 > '\($0)/tasks'; " }.joined() + "echo; exec sleep 60",
                        ], descriptors: [(own: ends[1], given: 1)])
                    worker = try request.start().get()
                    var byte: UInt8 = 0
                    #expect(read(ends[0], &byte, 1) == 1, "it has begun")
                case "a group": #expect(mkdir(try #require(first.folders[.pids]) + "/step", 0o755) == 0)
                case "memory":
                    // Pages of a file count as long as they are kept.
                    let writer = try start("head -c 3000000 /dev/zero > '\(file)'", in: first)
                    #expect(waitpid(writer, nil, 0) == writer)
                case "a refusal":
                    let bomb = try start("for i in $(seq 30); do sleep 0.2 & done 2>/dev/null; wait", in: first)
                    #expect(waitpid(bomb, nil, 0) == bomb)
                default: break
                }
                // Removing it waits for what is in there, for a while.
                groups.giveBack("first", mayServe: left != "no sandbox")
                let second = try groups.run(named: "second", GroupLimits())
                #expect(second.folders != first.folders)
                if worker > 0 {
                    kill(worker, SIGKILL)
                    #expect(waitpid(worker, nil, 0) == worker)
                }
                if let step = first.folders[.pids] { rmdir(step + "/step") }
                first.remove()
                groups.giveBack("second", mayServe: true)
            }
        }
    }
#endif
