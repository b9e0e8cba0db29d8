import MachineLinks
import MachineList
import Testing

@Suite struct NewMachineTests {
    /// Keys that are none, but have the right form: a length, the kind, and more.
    private func keys() throws -> [HostKey] {
        [
            try #require(HostKey(kind: "ssh-rsa", text: "AAAAB3NzaC1yc2EAAAA=")),
            try #require(HostKey(kind: "ssh-ed25519", text: "AAAAC3NzaC1lZDI1NTE5AAAA")),
        ]
    }

    @Test func `only the key with the given fingerprint is accepted`() throws {
        let keys = try keys()
        #expect(try NewMachine.key(of: keys, keys[0].fingerprint) == keys[0])
        #expect { try NewMachine.key(of: keys, "SHA256:other") } throws: {
            ($0 as? MachineListError)?.code == .unusable
        }
        #expect(try NewMachine.key(of: keys, nil) == keys[1])
    }
}
