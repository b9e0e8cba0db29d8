import Control

extension Box {
    /// Sends each state of the wait until it has ended.
    func wait(_ request: WaitRequest, _ reply: @Sendable (DaemonReply) async throws -> Void) async throws {
        var wait = VerdictWait(
            request, index: index, board: board, watchers: watchers, obstacle: { await self.obstacle() })
        try await wait.run { try await reply(.waiting($0)) }
    }
}
