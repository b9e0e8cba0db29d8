import Concurrency
import TerminalText
import Engine
import Foundation
package import Sandbox

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// The ability of this machine to lay workspaces over layers.
///
/// `find` tries it once, in a sandbox and on the disk of the workspaces: the kernel, the file system and the
/// permissions decide together, so versions do not tell.
package struct Layering: Sendable {
    package let stepInit: String

    /// - Parameter parent: A folder on the disk of the workspaces.
    /// - Throws: ``OverlayProblem``: why it is not possible, and what to do about it.
    package static func find(
        stepInit: String, sandbox: Sandbox?, users: StepUsers, in parent: String
    ) async throws -> Layering {
        #if os(Linux)
            guard let sandbox else { throw OverlayProblem("there is no sandbox to mount them in") }
            guard FileManager.default.fileExists(atPath: parent) else {
                throw OverlayProblem("\(parent) is not there yet")
            }
            let folder = "\(parent)/.trial-\(getpid())-\(UInt32.random(in: 0 ... .max))"
            do {
                let user = try users.take()
                defer { users.giveBack(user) }
                let holder = try await offThread {
                    let files = FileManager.default
                    for name in ["over/a", "under/a"] {
                        try files.createDirectory(atPath: "\(folder)/\(name)", withIntermediateDirectories: true)
                    }
                    try Data("lower\n".utf8).write(to: URL(fileURLWithPath: "\(folder)/under/a/kept"))
                    try Data("lower\n".utf8).write(to: URL(fileURLWithPath: "\(folder)/under/a/gone"))
                    try Whiteouts.put(at: [Array("a/gone".utf8)], in: "\(folder)/over")
                    let holder = try Workspace.open(
                        at: folder, owned: [], user: user, layering: Layering(stepInit: stepInit))
                    holder.take(["over", "under"].map { .init(path: "\(folder)/\($0)", owner: .daemon) })
                    try holder.mount()
                    return holder
                }
                defer { holder.close() }
                let inside = sandbox.command(
                    SandboxPolicy(),
                    mounts: [SandboxMount("\(folder)/merged", at: Sandbox.Place.workspace, .write)], user: user,
                    lifetime: .withParent, directory: Sandbox.Place.workspace,
                    ["/bin/sh", "-c", "test ! -e a/gone && echo more >> a/kept && rm a/kept && test ! -e a/kept"])
                let words = (holder.place?.enter ?? []) + inside
                let result = try await ExternalCommand(
                    words[0], Array(words.dropFirst()), in: "/", environment: Sandbox.linkerPath, deadline: .seconds(20)
                ).run()
                try? await Workspace.remove(folder)
                guard result.succeeded else {
                    let said = result.text.split(whereSeparator: \.isNewline).last.map(String.init) ?? "nothing"
                    throw OverlayProblem("a step could not work in one; it said: \(TerminalText.name(said))")
                }
                return Layering(stepInit: stepInit)
            } catch {
                try? await Workspace.remove(folder)
                throw OverlayProblem(
                    "\(error). It takes Linux 5.19 or later (5.11 without root) and a state folder on ext4, xfs, btrfs or tmpfs."
                )
            }
        #else
            throw OverlayProblem("overlays exist only on Linux")
        #endif
    }

    /// How workspaces are made, in words. With an obstacle they can't have layers.
    package static func inWords(_ obstacle: String?) -> String {
        obstacle.map { "a fresh checkout for each run: \($0)" } ?? "warm, by copy-on-write overlays"
    }

    /// Prepares the root of the workspace that steps find.
    package static func prepare(upper: String, for user: StepUser?) throws {
        chmod(upper, 0o755)
        if let user { try Ownership.give(upper, to: user) }
    }
}
