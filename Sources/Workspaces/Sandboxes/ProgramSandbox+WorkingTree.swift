public import StateFiles
import Sandbox
public import WorkflowPrograms

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

extension ProgramSandbox {
    /// The sandbox for the workflow definition of a working tree, for commands that need no daemon: `plan`, `validate`.
    ///
    /// None where there is no sandbox: the person who types the command could run that code anyway. Whether there is
    /// one is tried out before the first start; workflows in the cache need none.
    public static func workingTree(_ state: StateFolder, _ toolchain: Toolchain) -> ProgramSandbox {
        ProgramSandbox(found: { await enclosing(state, toolchain) })
    }

    /// The same for commands that read a commit: `integrity`. It compiles nothing, so there may be no toolchain.
    public static func commit(_ state: StateFolder) -> ProgramSandbox {
        ProgramSandbox(found: {
            await enclosing(state, try? await Toolchain.find(memory: "\(state.programs)/toolchain.json"))
        })
    }

    private static func enclosing(_ state: StateFolder, _ toolchain: Toolchain?) async -> ProgramSandbox {
        guard let stepInit = try? Installation.stepInit(),
            let sandbox = try? await Sandbox.find(stepInit: stepInit, toolchain: toolchain?.swiftc)
        else { return .none }
        // A daemon and other such commands may use the same state folder at the same time.
        return ProgramSandbox(sandbox, users: StepUsers(seed: "\(state.path) \(getpid())"))
    }
}
