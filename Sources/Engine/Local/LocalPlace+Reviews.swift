import Pipeline
import Sandbox
import SystemPackage

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

extension LocalPlace {
    /// The place for a step. A review gets its own folders in place of the shared ones.
    func place(of step: PlannedStep) -> LocalPlace { rooms[step.name].map(place(in:)) ?? self }

    private func place(in room: ReviewRoom) -> LocalPlace {
        var own = self
        own.workspace = room.workspace
        own.room = room
        // Both contain the folders that the other steps share.
        (own.workspaceMount, own.standby) = (nil, nil)
        return own
    }

    /// Creates the folders of reviews, except for their checkouts, and makes the user of the run's steps their owner.
    ///
    /// - Throws: `Errno`.
    func prepareRooms(for plan: Plan) throws {
        for room in rooms.values {
            for path in [room.published] + (runSandbox == nil ? [] : [room.home, room.temporary]) {
                guard mkdir(path.string, 0o755) == 0 || errno == EEXIST else { throw Errno(rawValue: errno) }
            }
            guard let runSandbox else { continue }
            try place(in: room).linkCaches(of: plan, runSandbox)
            guard let user = runSandbox.user else { continue }
            for owned in [room.workspace, room.home, room.temporary] { try Ownership.give(owned.string, to: user) }
        }
    }
}
