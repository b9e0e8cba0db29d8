import Delivery
import ForgeConnection
import Foundation
import Results
import Pipeline

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// Publishes one release, so that whoever tests it can kill it at any moment and start it again.
///
///     publish-once PROGRESS VERSION COMMIT FILES folder FOLDER
///     publish-once PROGRESS VERSION COMMIT FILES KIND URL TOKEN
@main
struct PublishOnce {
    static func main() async {
        do { try await run(Array(CommandLine.arguments.dropFirst())) } catch let problem as DeliveryProblem {
            FileHandle.standardError.write(Data("\(problem.code.rawValue): \(problem)\n".utf8))
            exit(1)
        } catch {
            FileHandle.standardError.write(Data("\(error)\n".utf8))
            exit(2)
        }
    }

    private static func run(_ words: [String]) async throws {
        guard words.count >= 6 else { throw DeliveryProblem(.invalid, "words are missing") }
        let listed = try await DeliveryTool.files(in: words[3])
        let release = ReleaseContent(
            repository: "hello", version: words[1], buildNumber: 1, tag: "v\(words[1])", commit: words[2],
            notes: "What is new", committedAt: Date(timeIntervalSince1970: 1_780_000_000), files: listed)
        let destinations = Destinations(
            work: words[0] + ".work",
            connection: { _ in
                guard let kind = ForgeKind(rawValue: words[4]), words.count == 7 else {
                    throw DeliveryProblem(.invalid, "words are missing")
                }
                return ForgeAccess(
                    address: try ForgeAddress(
                        "\(words[5])/octo/hello", kind: kind, api: kind == .github ? words[5] : nil),
                    credential: .token(words[6]))
            }, testFlight: { _, _ in throw DeliveryProblem(.invalid, "there is no TestFlight here") })
        let publisher = try await destinations.publisher(
            for: words[4] == "folder" ? .folder(words[5]) : .forge(), of: "hello", secrets: [:])
        let done = try await publisher.publish(release, progress: FileProgress(path: words[0])) { print($0) }
        print(done.state.rawValue)
    }
}

private enum DeliveryTool {
    static func files(in folder: String) async throws -> [ReleaseFile] {
        // The digests are in a list beside, as `sha256sum` writes it.
        try String(contentsOfFile: folder + ".sums", encoding: .utf8).split(separator: "\n").map { line in
            let parts = line.split(separator: " ").map(String.init)
            let path = "\(folder)/\(parts[1])"
            let size = try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int ?? 0
            return ReleaseFile(name: parts[1], path: path, bytes: size, sha256: parts[0])
        }
    }
}

/// Notes in a file, which is replaced in one step.
private struct FileProgress: PublishingProgress {
    let path: String

    private var values: [String: String] {
        (try? JSONDecoder().decode([String: String].self, from: Data(contentsOf: URL(filePath: path)))) ?? [:]
    }

    func value(_ key: String) async throws -> String? { values[key] }

    func set(_ key: String, to value: String?) async throws {
        var all = values
        all[key] = value
        try JSONEncoder().encode(all).write(to: URL(filePath: path), options: .atomic)
    }
}
