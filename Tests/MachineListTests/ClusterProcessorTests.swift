import MachinePool
import Pipeline
import StateFiles
import TestBasics
import Testing

@testable import MachineList

/// What the nodes of a cluster say of their processor.
@Suite struct ClusterProcessorTests {
    @Test func `nodes of one processor make it the cluster's`() {
        #expect(ClusterProcessor(["x86_64", "x86_64"]) == .one(.arch(.x64)))
        #expect(ClusterProcessor(["arm64", nil]) == .one(.arch(.arm64)), "a node that was never up says nothing")
        #expect(ClusterProcessor(["x86_64", "arm64", "x86_64"]) == .several(["arm64", "x86_64"]))
        #expect(ClusterProcessor(["ppc64le"]) == .several(["ppc64le"]))
        #expect(ClusterProcessor([nil]) == .unknown && ClusterProcessor([]) == .unknown)
        #expect(ClusterProcessor(["arm64"]).caution == nil)
        #expect([ClusterProcessor.unknown, .several(["arm64", "x86_64"])].allSatisfy { $0.caution != nil })
    }

    @Test func `a cluster that was added without its processor gets it later`() async throws {
        try await withTemporaryFolder { folder in
            let list = MachineList(try StateFolder(environment: ["PIPECTL_HOME": folder]))
            let machine = try MachineWish("slurm", labels: ["gpu"], slots: 4, cpus: 8, memory: 1 << 30).machine()
            #expect(!machine.isKindKnown)
            let arm = MachineNeeds(traits: [.arch(.arm64)])
            #expect(!machine.missing(arm).isEmpty)
            try list.add(machine)
            try list.set(.several(["arm64", "x86_64"]), of: machine.name)
            #expect(try list.machines() == [machine])
            try list.set(.one(.arch(.arm64)), of: machine.name)
            let known = try #require(try list.machines().first)
            #expect(known.isKindKnown && known.missing(arm).isEmpty)
            #expect(known.traits == [.arch(.arm64), .label("gpu"), .linux] && known.cpus == 8 && known.slots == 4)
        }
    }
}
