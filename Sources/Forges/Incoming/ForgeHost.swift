/// What a daemon does for what its forges tell.
public struct ForgeHost: Sendable {
    /// Has a repository looked at as soon as possible.
    public var look: @Sendable (_ repository: String) -> Void
    /// The same, also where no ref has moved.
    public var lookAnew: @Sendable (_ repository: String) async -> Void
    /// Carries out an order, once however often it is given.
    public var obey: @Sendable (ForgeOrder) async throws -> ForgeOutcome
    /// Decides anew about the runs of a change that wait for approval.
    public var reconsider: @Sendable (_ change: String, _ repository: String) async -> Void
    /// Told when something new is to be shown at a forge.
    public var noteWanted: @Sendable () -> Void
    /// Whose commands are obeyed beside those of people who may write.
    public var policy: CommandPolicy
    /// What it does about tasks; nil: nothing.
    package var tasks: ForgeTasks?

    public init(
        policy: CommandPolicy, look: @escaping @Sendable (_ repository: String) -> Void,
        lookAnew: @escaping @Sendable (_ repository: String) async -> Void,
        obey: @escaping @Sendable (ForgeOrder) async throws -> ForgeOutcome,
        reconsider: @escaping @Sendable (_ change: String, _ repository: String) async -> Void,
        noteWanted: @escaping @Sendable () -> Void
    ) {
        self.policy = policy
        self.look = look
        self.lookAnew = lookAnew
        self.obey = obey
        self.reconsider = reconsider
        self.noteWanted = noteWanted
    }
}
