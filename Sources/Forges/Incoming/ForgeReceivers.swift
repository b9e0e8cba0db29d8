import Synchronization

/// The receivers of a daemon's connected repositories, for whoever needs to know something of a forge before it goes on.
public final class ForgeReceivers: Sendable {
    /// How long somebody waits for a forge before going on without it, in seconds.
    static let patience = 5.0

    private let receivers = Mutex<[String: ForgeReceiver]>([:])

    public init() {}

    func serve(_ receivers: [String: ForgeReceiver]) { self.receivers.withLock { $0 = receivers } }

    /// Has the forge of `repository` asked about changes whose heads are new, by their names.
    ///
    /// Returns when the answers are stored, when the forge does not answer in time, or at once where none is connected.
    public func learn(_ heads: [String: String], of repository: String) async {
        guard let receiver = receivers.withLock({ $0[repository] }) else { return }
        let numbers = Dictionary(
            heads.compactMap { name, head in Int(name).map { ($0, head) } }, uniquingKeysWith: { first, _ in first })
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await receiver.learn(heads: numbers) }
            group.addTask { try? await Task.sleep(for: .seconds(Self.patience)) }
            await group.next()
            group.cancelAll()
        }
    }
}
