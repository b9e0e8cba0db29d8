import Sandbox
import SystemPackage

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// Which symbolic links among a step's outputs are stored: those that mean the same in another run's workspace.
///
/// A Python environment has both kinds: `lib64 -> lib` and `bin/python -> /usr/bin/python3`. pipectl itself follows no
/// link of a workspace; a step that follows one sees what its own sandbox shows.
struct OutputLink {
    /// Folders outside the workspace that are the same for every run.
    let systemFolders: [String]

    /// - Parameter readable: Further folders that the sandbox of every step shows.
    init(readable: [String]) {
        #if os(macOS)
            let system = ["/usr", "/bin", "/sbin", "/System", "/Library/Developer", "/opt/homebrew", "/Applications"]
        #else
            let system = SystemFolders.roots
        #endif
        systemFolders = system + readable
    }

    /// Why a link can't be stored, as the predicate of a sentence whose subject is its path; nil if it can.
    func problem(at path: String, to target: String) -> String? {
        if target.isEmpty || target.utf8.count > 4_000 || target.utf8.contains(0) { return "is an unusable link" }
        // The path is split by bytes, as the kernel does it.
        let parts = target.utf8.split(separator: UInt8(ascii: "/")).map { String(Substring($0)) }
        if target.utf8.first == UInt8(ascii: "/") {
            let isSystem = systemFolders.contains { target == $0 || target.hasPrefix($0 + "/") }
            if isSystem, !parts.contains("..") { return nil }
            return "is a link to \(target), which other runs may not have; make the link relative, or copy the file"
        }
        var depth = path.utf8.count { $0 == UInt8(ascii: "/") }
        for part in parts {
            switch part {
            case ".": continue
            case "..": depth -= 1
            case ".git": return "is a link into .git, which is never stored"
            default: depth += 1
            }
            if depth < 0 { return "is a link to \(target), outside the workspace; copy the file instead" }
        }
        return nil
    }
}

extension OutputLink {
    /// Returns the target of a link in an open folder; nil if the link is gone, its target is too long or is not UTF-8.
    static func target(of name: String, in folder: Int32) -> String? {
        var bytes = [CChar](repeating: 0, count: Int(PATH_MAX) + 1)
        let count = readlinkat(folder, name, &bytes, bytes.count)
        guard count > 0, count < bytes.count else { return nil }
        return String(validating: bytes[..<count].map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}
