import MachinePool
import Pipeline
import Testing
import Workspaces

/// Whether steps may run on the machine of the daemon.
@Suite struct ThisMachineTests {
    @Test func `a run that asks for nothing, or for what there is, may run here`() throws {
        try ThisMachine.check(MachineNeeds())
        try ThisMachine.check(MachineNeeds(traits: ThisMachine.traits, cpus: 1, memory: 1))
    }

    @Test(arguments: [
        MachineNeeds(traits: [.macOS, .linux]), MachineNeeds(traits: [.arch(.arm64), .arch(.x64)]),
        MachineNeeds(traits: [.label("gpu")]), MachineNeeds(cpus: 1_000_000), MachineNeeds(memory: .max),
    ])
    func `a run that asks for what is not here is refused`(needs: MachineNeeds) {
        #expect(throws: PlaceUnavailable.self) { try ThisMachine.check(needs) }
    }
}
