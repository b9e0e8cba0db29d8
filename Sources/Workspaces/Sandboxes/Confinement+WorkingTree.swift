public import StateFiles
import Sandbox
public import WorkflowPrograms

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

extension Confinement {
    /// What encloses the definition of a working tree for commands that need no box: `plan`, `validate`.
    ///
    /// Nothing where nothing can be enclosed: whoever types the command can run that code anyway. Whether anything can
    /// be is tried out before the first start; workflows that are in the cache need none.
    public static func workingTree(_ state: StateFolder, _ toolchain: Toolchain) -> Confinement {
        Confinement(found: { await enclosing(state, toolchain) })
    }

    /// The same for commands that read a commit: `integrity`. It compiles nothing, so there may be no toolchain.
    public static func commit(_ state: StateFolder) -> Confinement {
        Confinement(found: {
            await enclosing(state, try? await Toolchain.find(memory: "\(state.programs)/toolchain.json"))
        })
    }

    private static func enclosing(_ state: StateFolder, _ toolchain: Toolchain?) async -> Confinement {
        guard let stepInit = try? Installation.stepInit(),
            let sandbox = try? await Sandbox.find(stepInit: stepInit, toolchain: toolchain?.swiftc)
        else { return .none }
        // Beside a daemon of the same folder, and others of these.
        return Confinement(sandbox, users: StepUsers(seed: "\(state.path) \(getpid())"))
    }
}
