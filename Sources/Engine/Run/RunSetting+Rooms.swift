import Pipeline
import Sandbox
import SystemPackage

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

extension RunSetting {
    /// The folders of all reviews of the run.
    var rooms: [ReviewRoom] { reviews.values.compactMap(\.room) }

    /// The setting for a step. A review gets its own folders in place of the shared ones.
    func setting(of step: PlannedStep) -> RunSetting {
        guard let room = reviews[step.name]?.room else { return self }
        return setting(in: room)
    }

    private func setting(in room: ReviewRoom) -> RunSetting {
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
        for room in rooms {
            for path in [room.published] + (runSandbox == nil ? [] : [room.home, room.temporary]) {
                guard mkdir(path.string, 0o755) == 0 || errno == EEXIST else { throw Errno(rawValue: errno) }
            }
            guard let runSandbox else { continue }
            try setting(in: room).linkCaches(of: plan, runSandbox)
            guard let user = runSandbox.user else { continue }
            for owned in [room.workspace, room.home, room.temporary] { try Ownership.give(owned.string, to: user) }
        }
    }
}

extension Runner {
    /// The runner for a step. A review gets its own folders in place of the shared ones.
    func runner(of step: PlannedStep) -> Runner {
        step.review == nil ? self : Runner(setting: setting.setting(of: step), pool: pool, emit: emit)
    }
}
