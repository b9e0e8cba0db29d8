import Engine
import MachineProtocol
import Pipeline
import SystemPackage

/// A folder of another machine that untrusted code wrote.
///
/// What the machine says about it is bounded here, too: the machine may lie.
struct RemoteFiles: FileSource {
    let machine: MachineClient
    let folder: PlaceFolder
    let step: PlannedStep

    /// The most bytes of a list of files.
    private static let mostBytes = 256 << 20

    func search(_ globs: [Glob], _ limits: FileLimits, findsLinks: Bool) -> FileSearch {
        do {
            var bytes: [UInt8] = []
            _ = try machine.ask(
                .search(folder, step: step, SearchOrder(globs, limits, findsLinks: findsLinks)), Done.self,
                data: { piece in
                    bytes += piece
                    guard bytes.count <= RemoteFiles.mostBytes else {
                        throw WorkspaceFileProblem(path: ".", reason: "the machine's list of files is too long")
                    }
                })
            return checked(try Wire.value(FileSearch.self, from: bytes), globs, limits, findsLinks)
        } catch {
            var search = FileSearch()
            let gap = RemoteFiles.problem(error, ".")
            search.gap = gap
            if gap.machineError == nil { search.problems.append("the workspace can't be searched: \(gap.reason)") }
            return search
        }
    }

    /// Without what was not asked for.
    private func checked(
        _ found: FileSearch, _ globs: [Glob], _ limits: FileLimits, _ findsLinks: Bool
    ) -> FileSearch {
        func isWanted(_ path: String) -> Bool {
            let parts = path.split(separator: "/", omittingEmptySubsequences: false)
            return path.utf8.count <= 1_024 && !path.utf8.contains(0)
                && parts.allSatisfy { !["", ".", "..", ".git"].contains($0) }
                && globs.contains { $0.matches(path) }
        }
        var search = found
        search.matches = found.matches.filter { match in
            isWanted(match.path) && match.bytes >= 0 && (findsLinks || match.target == nil)
                && (match.target.map { $0.utf8.count <= 4_096 && $0.utf8.count == match.bytes } ?? true)
        }
        search.emptyFolders = found.emptyFolders.filter(isWanted)
        search.problems = found.problems.prefix(21).map { String($0.prefix(2_000)) }
        if search.matches.count != found.matches.count || search.matches.count > limits.count + 1 {
            search.gap =
                search.gap ?? WorkspaceFileProblem(path: ".", reason: "the machine listed what nobody asked for")
            search.matches = Array(search.matches.prefix(limits.count))
        }
        search.matches.sort { $0.path < $1.path }
        search.emptyFolders.sort()
        return search
    }

    func read(_ path: String, atMost limit: Int, _ keep: (UnsafeRawBufferPointer) throws -> Void) throws -> Int {
        var bytes = 0
        do {
            let end = try withoutActuallyEscaping(keep) { keep in
                try machine.ask(
                    .read(folder, step: step, path: path, atMost: limit), FileEnd.self,
                    data: { piece in
                        bytes += piece.count
                        guard bytes <= limit else {
                            throw WorkspaceFileProblem(
                                path: path, reason: "the machine sent more of it than is allowed")
                        }
                        do { try piece.withUnsafeBytes(keep) } catch { throw Kept(error: error) }
                    })
            }
            guard end.bytes == bytes else {
                throw WorkspaceFileProblem(path: path, reason: "the machine sent only a part of it")
            }
            return bytes
        } catch let problem as Kept {
            throw problem.error
        } catch {
            throw RemoteFiles.problem(error, path)
        }
    }

    /// What the receiver of the bytes threw, which is its own to explain.
    private struct Kept: Error { let error: any Error }

    private static func problem(_ error: any Error, _ path: String) -> WorkspaceFileProblem {
        if let problem = error as? WorkspaceFileProblem { return problem }
        if case MachineProblem.file(let problem) = error { return problem }
        // The workspace is not to blame for a lost machine.
        return WorkspaceFileProblem(
            path: path, reason: "\((error as? MachineProblem)?.error ?? error)", machineError: .ioError)
    }
}
