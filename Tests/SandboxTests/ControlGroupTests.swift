#if os(Linux)
    import Foundation
    import Synchronization
    import SystemPackage
    import Testing

    @testable import Sandbox

    /// Control groups of version 1; without them nothing is tested.
    @Suite(.serialized, .timeLimit(.minutes(1)))
    struct ControlGroupTests {
        private func withGroups(_ body: (ControlGroups) throws -> Void) async throws {
            guard let groups = try? await ControlGroups.find(environment: [SystemdScope.variable: "none"]),
                groups.kind == "cgroup v1"
            else { return }
            try body(groups)
            let folders = try groups.run(named: "last", nil).folders.values
            groups.removeGroup(ofRun: "last")
            groups.close()
            for folder in folders { #expect(!FileManager.default.fileExists(atPath: folder)) }
        }

        private func text(_ name: String, of folder: String?) throws -> String {
            try String(contentsOfFile: try #require(folder) + "/" + name, encoding: .utf8)
                .trimmingCharacters(in: .whitespacesAndNewlines)
        }

        /// Like for a standby sandbox: the group is made before the limits of its run are known.
        @Test func `a group has the limits of its run`() async throws {
            try await withGroups { groups in
                let group = try groups.run(named: "first", nil)
                for limits in [
                    GroupLimits(memory: 256 << 20, processes: 30), GroupLimits(memory: 32 << 20, processes: nil),
                    GroupLimits(),
                ] {
                    #expect(try groups.run(named: "first", limits).folders == group.folders)
                    let memory = try text("memory.limit_in_bytes", of: group.folders[.memory])
                    #expect(limits.memory.map { memory == String($0) } ?? (memory.count > 15))
                    let processes = limits.processes.map(String.init) ?? "max"
                    #expect(try text("pids.max", of: group.folders[.pids]) == processes)
                }
                groups.removeGroup(ofRun: "first")
                #expect(!group.isThereInPart)
            }
        }

        @Test func `concurrent runs have groups of their own`() async throws {
            try await withGroups { groups in
                let both = try ["one", "two"].map { try groups.run(named: $0, GroupLimits()) }
                #expect(both[0].folders != both[1].folders)
                for name in ["one", "two"] { groups.removeGroup(ofRun: name) }
            }
        }

        @Test func `a group that another process left is not used`() async throws {
            try await withGroups { groups in
                let first = try groups.run(named: "first", GroupLimits())
                let folder = try #require(first.folders[.pids])
                let number = try #require(folder.split(separator: "-").last.flatMap { Int($0) })
                let left = folder.dropLast("\(number)".count) + "\(number + 1)"
                #expect(mkdir(String(left), 0o755) == 0)
                let second = try groups.run(named: "second", GroupLimits())
                #expect(second.folders[.pids] != String(left))
                #expect(rmdir(String(left)) == 0)
                for name in ["first", "second"] { groups.removeGroup(ofRun: name) }
            }
        }
    }
#endif
