import Control
import Foundation
import Logging
import MachineLinks
import MachineList
import MachinePool
import Pipeline
import StateFiles
import TestBasics
import Testing

@testable import Placing

/// What is asked of a cluster from time to time; scripts stand in for Slurm's commands.
@Suite(.timeLimit(.minutes(1))) struct ClusterWatchTests {
    private struct Bench {
        let folder: String
        let list: MachineList
        let placement: Placement

        var watch: ClusterWatch {
            ClusterWatch(
                list: list, slurm: SlurmCommands(environment: ["PATH": "\(folder)/bin:/usr/bin:/bin"]),
                placement: placement)
        }

        func prints(_ program: String, _ lines: [String], code: Int = 0) throws {
            let text = "#!/bin/sh\ncat <<'END'\n\(lines.joined(separator: "\n"))\nEND\nexit \(code)\n"
            try text.write(toFile: "\(folder)/bin/\(program)", atomically: true, encoding: .utf8)
            try FileManager.default.setAttributes(
                [.posixPermissions: 0o755], ofItemAtPath: "\(folder)/bin/\(program)")
        }

        /// What is known of the cluster.
        func look() async throws -> (traits: [MachineTrait], reason: String?) {
            await watch.look()
            await placement.refresh(isPatient: false)
            let use = placement.uses.first { $0.name == "slurm" }
            return (try list.machines().first?.traits ?? [], use?.reason)
        }
    }

    private func withBench(_ body: (Bench) async throws -> Void) async throws {
        try await withTemporaryFolder { folder in
            try FileManager.default.createDirectory(atPath: "\(folder)/bin", withIntermediateDirectories: true)
            let list = MachineList(try StateFolder(environment: ["PIPECTL_HOME": folder]))
            try list.add(MachineWish("slurm", slots: 4, cpus: 8, memory: 1 << 30).machine())
            let placement = Placement(list, slots: 1, log: Logger(label: "test"))
            await placement.refresh()
            try await body(Bench(folder: folder, list: list, placement: placement))
        }
    }

    @Test func `a cluster that was added without its processor is asked for it`() async throws {
        try await withBench { bench in
            #expect(try await bench.look().traits == [.linux], "Slurm has no commands")
            try bench.prints("sinfo", ["n1|ci*|idle|x|2|1000|none", "n2|other|idle|x|2|1000|none"])
            try bench.prints(
                "scontrol", ["NodeName=n1 Arch=x86_64 Cores=1", "NodeName=n2 Arch=aarch64 Cores=1"], code: 1)
            #expect(try await bench.look().traits == [.linux], "scontrol fails")
            try bench.prints("scontrol", ["NodeName=n1 Arch=x86_64 Cores=1", "NodeName=n2 Arch=aarch64 Cores=1"])
            let (traits, reason) = try await bench.look()
            #expect(traits == [.linux, .arch(.x64)], "jobs without a partition go to the default one")
            #expect(reason == nil)
        }
    }

    @Test func `a cluster whose nodes are all out of service is not used until one is back`() async throws {
        try await withBench { bench in
            let drained = "n1|ci*|drain|x|2|1000|broken disk"
            try bench.prints("sinfo", [drained, "n2|ci*|down|x|2|1000|none"])
            #expect(try await bench.look().reason?.contains("broken disk") == true)
            try bench.prints("sinfo", [], code: 1)
            #expect(try await bench.look().reason != nil, "nothing is concluded from silence")
            try bench.prints("sinfo", [drained, "n2|ci*|mix|x|2|1000|none"])
            #expect(try await bench.look().reason == nil)
        }
    }
}
