import Pipeline
import Sandbox
import SystemPackage

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

extension RunSetting {
    /// The rooms of the run's reviews.
    var rooms: [ReviewRoom] { reviews.values.compactMap(\.room) }

    /// The setting for a step: of its own room where it has one.
    func setting(of step: PlannedStep) -> RunSetting {
        guard let room = reviews[step.name]?.room else { return self }
        return setting(in: room)
    }

    private func setting(in room: ReviewRoom) -> RunSetting {
        var own = self
        own.workspace = room.workspace
        own.room = room
        // Both show the folders that the other steps share.
        (own.workspaceMount, own.standby) = (nil, nil)
        return own
    }

    /// Makes what the rooms need beside their checkout, and gives them to the user of the run's steps.
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
    /// The runner of a step: with a review's own room where it has one.
    func runner(of step: PlannedStep) -> Runner {
        step.review == nil ? self : Runner(setting: setting.setting(of: step), pool: pool, emit: emit)
    }
}
