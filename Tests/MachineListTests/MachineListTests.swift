import Foundation
import MachineList
import MachinePool
import Pipeline
import StateFiles
import TestBasics
import Testing

@Suite struct MachineListTests {
    private func machine(_ name: String, _ address: String = "ssh://ci@mini:2222") throws -> Machine {
        Machine(
            name: name, address: try #require(MachineAddress(address)),
            traits: [.macOS, .arch(.arm64), .label("xcode")],
            cpus: 8, memory: 16 << 30, slots: 2)
    }

    private func list(in folder: String) throws -> MachineList {
        MachineList(try StateFolder(environment: ["PIPECTL_HOME": folder]))
    }

    @Test func `what was added is there for the next process, until it is removed`() async throws {
        try await withTemporaryFolder { folder in
            let list = try list(in: folder)
            #expect(try list.machines().isEmpty)
            try list.add(machine("mini"))
            try list.add(machine("atlas", "slurm://ci"))
            try list.set(.draining, of: "mini")
            var mini = try machine("mini")
            mini.state = .draining
            #expect(try self.list(in: folder).machines() == [machine("atlas", "slurm://ci"), mini])
            #expect(try list.remove("mini").machine == mini)
            #expect(try list.machines().map(\.name) == ["atlas"])
        }
    }

    @Test func `an address that another machine uses keeps its key`() async throws {
        try await withTemporaryFolder { folder in
            let list = try list(in: folder)
            try list.add(machine("a"))
            try list.add(machine("b"))
            #expect(try list.remove("a").isAddressUsed)
            #expect(try !list.remove("b").isAddressUsed)
        }
    }

    @Test func `a name is unique, and an unknown one is an error`() async throws {
        try await withTemporaryFolder { folder in
            let list = try list(in: folder)
            try list.add(machine("a"))
            #expect { try list.add(machine("a")) } throws: { ($0 as? MachineListError)?.code == .taken }
            #expect { try list.remove("b") } throws: { ($0 as? MachineListError)?.code == .unknown }
            #expect { try list.set(.ready, of: "b") } throws: { ($0 as? MachineListError)?.code == .unknown }
            #expect { try list.add(machine("-oProxyCommand=x")) } throws: {
                ($0 as? MachineListError)?.code == .unusable
            }
        }
    }

    @Test(arguments: ["", "[]", #"{"version":2,"machines":[]}"#, #"{"version":1,"machines":[{"name":"x"}]}"#])
    func `a damaged list is an error, and is not overwritten`(text: String) async throws {
        try await withTemporaryFolder { folder in
            let list = try list(in: folder)
            try text.write(toFile: list.path, atomically: true, encoding: .utf8)
            #expect { try list.add(machine("a")) } throws: { ($0 as? MachineListError)?.code == .unreadable }
            #expect(try String(contentsOfFile: list.path, encoding: .utf8) == text)
        }
    }

    @Test(arguments: [("/srv/shared", true), ("shared", false), ("", false), ("/a\nb", false)])
    func `a shared folder is a whole path`(path: String, isUsable: Bool) {
        let wish = MachineWish("slurm", slots: 1, cpus: 1, memory: 1 << 30, shared: path)
        #expect((try? wish.machine().shared) == (isUsable ? path : nil))
    }
}
