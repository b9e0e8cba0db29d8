import Foundation
import MachinePool
import Testing

@Suite struct MachineAddressTests {
    @Test(arguments: [
        "ssh://mini.local", "ssh://ci@mini.local", "ssh://ci@10.0.0.7:2222", "ssh://[fd00::7]:2222", "slurm",
        "slurm://ci",
    ])
    func `an address is read and written`(text: String) throws {
        let address = try #require(MachineAddress(text))
        #expect(address.description == text)
        #expect(try JSONDecoder().decode(MachineAddress.self, from: JSONEncoder().encode(address)) == address)
    }

    @Test(arguments: [
        "", "mini", "ssh://", "ssh://-oProxyCommand=x", "ssh://a b", "ssh://u@", "ssh://@h", "ssh://-l@h", "ssh://h:0",
        "ssh://h:70000", "ssh://h:", "ssh://h:x", "ssh://h/path", "ssh://[fd00::7", "ssh://[x]", "slurm://",
        "slurm://-p",
        "slurm://a,b", "https://h", "ssh://u:p@h", "ssh://h\n", "ssh://h;x",
    ])
    func `what could be an option or is no address is refused`(text: String) {
        #expect(MachineAddress(text) == nil)
    }

    @Test func `a machine has a name although it was given none`() {
        #expect(MachineAddress("ssh://ci@Mini.example.com:22")?.usualName == "mini")
        #expect(MachineAddress("ssh://10.0.0.7")?.usualName == "10.0.0.7")
        #expect(MachineAddress("slurm")?.usualName == "slurm")
    }
}
