import Sandbox
import Testing

/// The users of runs when the daemon is root.
struct StepUsersTests {
    /// systemd's range for users that exist only temporarily.
    static let all = Set<UInt32>(61_184...65_519)

    @Test(.enabled(if: StepUsers.isPossible, "only root can become others"))
    func `if all users are taken no step runs as root`() throws {
        let users = StepUsers(seed: "a box")
        var taken: [StepUser] = []
        for _ in Self.all { taken.append(try #require(try users.take())) }
        #expect(Set(taken.map(\.user)) == Self.all, "each once, never 0")
        #expect(taken.allSatisfy { $0.user == $0.group })
        let problem = #expect(throws: SandboxProblem.self) { try users.take() }
        #expect(problem?.description == "all 4336 users for steps are in use; wait for runs to end")
        users.giveBack(taken[7])
        #expect(try users.take()?.user == taken[7].user)
        #expect(throws: SandboxProblem.self) { try users.take() }
    }

    @Test(.enabled(if: !StepUsers.isPossible)) func `without root all steps run as the daemon's user`() throws {
        #expect(try StepUsers().take() == nil)
    }
}
