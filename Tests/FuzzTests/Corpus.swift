import Results
import Foundation

/// Initial inputs: files that tools really wrote.
enum Corpus {
    /// The result files of the engine's tests whose names end with one of these.
    static func results(_ suffixes: String...) throws -> [[UInt8]] {
        let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "TestReportsTests/Fixtures")
        return try FileManager.default.contentsOfDirectory(atPath: folder.path)
            .filter { name in suffixes.contains { name.hasSuffix($0) } }
            .sorted()
            .map { Array(try Data(contentsOf: folder.appending(path: $0))) }
    }

    static func texts(_ texts: String...) -> [[UInt8]] { texts.map { Array($0.utf8) } }

    static func json(_ values: any Encodable...) throws -> [[UInt8]] { try values.map { try json($0) } }

    private static func json(_ value: some Encodable) throws -> [UInt8] { Array(try JSONEncoder().encode(value)) }
}

/// A folder for one target, which is removed afterwards.
func withFuzzFolder<T>(_ body: (String) async throws -> T) async throws -> T {
    // Its path must fit into a socket's address.
    let base = FileManager.default.isWritableFile(atPath: "/dev/shm") ? "/dev/shm" : "/tmp"
    let path = "\(base)/pipectl-fuzz-\(getpid())-\(UInt32.random(in: 0 ... .max))"
    try FileManager.default.createDirectory(
        atPath: path, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
    defer { try? FileManager.default.removeItem(atPath: path) }
    return try await body(path)
}
