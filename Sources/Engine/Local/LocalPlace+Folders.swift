import Foundation
import Pipeline
import Sandbox
import SystemPackage

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

extension LocalPlace {
    /// Creates the folders that steps see beside their workspace.
    func makeFolders() throws {
        for folder in [shown, values, published] {
            guard mkdir(folder.string, 0o755) == 0 || errno == EEXIST else { throw Errno(rawValue: errno) }
        }
        // Steps reach these folders only through their mounts; if they run as another user, they need this permission
        // to read.
        if runSandbox?.user != nil {
            for folder in [shown, values, published] { chmod(folder.string, 0o755) }
        }
    }

    /// Creates the quota of the run, with its control group.
    ///
    /// - Throws: Why the control group can't be created.
    func makeQuota(for plan: Plan) throws -> RunQuota {
        try RunQuota(
            limits: plan.limits, controlGroups: controlGroups,
            groupName: groupName,
            folders: [workspaceMount?.upper ?? workspace] + (runSandbox == nil ? [] : [home, temporary, published])
                + rooms.values.map(\.folder))
    }

    /// The path at which the daemon itself sees the steps' workspace.
    var workspaceView: FilePath { workspaceMount?.view ?? workspace }
    /// The folder that steps see at ``Sandbox/Place/shown`` through one mount: values, the context, user and group
    /// files.
    var shown: FilePath { FilePath(LocalPlace.shown(in: folder.string)) }
    /// The folder through which steps pass values to each other.
    var values: FilePath { FilePath(LocalPlace.values(in: folder.string)) }
    /// The folder in which each attempt has a folder for the values that it publishes.
    var published: FilePath { room?.published ?? shown.appending("published") }
    /// The home of steps, which belongs to this run alone.
    var home: FilePath { room?.home ?? folder.appending("home") }
    var temporary: FilePath { room?.temporary ?? folder.appending("tmp") }

    /// The subfolder of a run's folder that steps may read. It contains nothing else.
    package static func shown(in folder: String) -> String { "\(folder)/shown" }
    /// The folder below ``shown(in:)`` with the values that steps published.
    package static func values(in folder: String) -> String { "\(shown(in: folder))/values" }

    /// The path at which steps see a path of this place.
    func seen(_ path: FilePath) -> FilePath {
        guard runSandbox != nil, Sandbox.hasMounts else { return path }
        let text = path.string
        for (own, place) in [
            (workspace.string, Sandbox.Place.workspace), (home.string, Sandbox.Place.home),
            (temporary.string, Sandbox.Place.temporary), (values.string, Sandbox.Place.values),
            (published.string, Sandbox.Place.published),
        ] where text.hasPrefix(own) {
            let rest = text.dropFirst(own.count)
            if rest.isEmpty || rest.hasPrefix("/") { return FilePath(place + rest) }
        }
        return path
    }

    /// Which links among a step's outputs are stored.
    var keptLinks: OutputLink { OutputLink(readable: runSandbox?.sandbox.readable ?? []) }

    /// The name of the run's control group.
    var groupName: String { folder.lastComponent?.string ?? "run" }
}
