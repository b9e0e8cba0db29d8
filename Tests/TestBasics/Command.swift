import Foundation

/// The end of a command: its exit code and its output.
package struct Ended: Sendable {
    package var code: Int32
    package var output: String
    package var errors: String

    /// The output without white space around it.
    package var text: String { output.trimmingCharacters(in: .whitespacesAndNewlines) }
}

/// A command that was to end with 0 and did not.
package struct CommandFailure: Error, CustomStringConvertible {
    package var command: [String]
    package var ended: Ended

    package init(command: [String], ended: Ended) { (self.command, self.ended) = (command, ended) }

    package var description: String { "\(command) ended with \(ended.code): \(ended.errors)\(ended.output)" }
}

/// Runs commands to their end and reads what they print. Nothing is left of one that ended.
package struct CommandRunner: Sendable {
    package var folder: String
    /// The whole environment; nil for that of the test.
    package var environment: [String: String]?
    /// A command that takes longer is killed, and its code says so.
    package var limit = Duration.seconds(300)

    package init(in folder: String = "/", environment: [String: String]? = nil) {
        (self.folder, self.environment) = (folder, environment)
    }

    /// Runs a command without blocking a thread of the pool.
    package func end(of command: [String], input: String? = nil) async throws -> Ended {
        let folder = try TemporaryFolder()
        let child = try start(command, input, folder)
        async let _: Void = child.kill(after: limit)
        let code = await child.end
        return ended(code, folder)
    }

    /// Runs a command while this thread waits.
    package func waitForEnd(of command: [String], input: String? = nil) throws -> Ended {
        let folder = try TemporaryFolder()
        return ended(try start(command, input, folder).waitUntilEnd(), folder)
    }

    private func start(_ command: [String], _ input: String?, _ scratch: TemporaryFolder) throws -> Child {
        let file = try input.map { try scratch.write("0", $0.utf8) }
        return try Child(
            command, in: folder, environment: environment, output: scratch[""], input: file)
    }

    private func ended(_ code: Int32, _ scratch: TemporaryFolder) -> Ended {
        func text(_ name: String) -> String {
            String(decoding: FileManager.default.contents(atPath: scratch[name]) ?? Data(), as: UTF8.self)
        }
        return Ended(code: code, output: text("1"), errors: text("2"))
    }
}

/// Runs a command to its end, and returns what it printed without white space around it.
///
/// - Throws: ``CommandFailure`` if it does not end with 0.
@discardableResult
package func runCommand(_ command: String..., in folder: String = "/", input: String? = nil) async throws -> String {
    let ended = try await CommandRunner(in: folder).end(of: command, input: input)
    guard ended.code == 0 else { throw CommandFailure(command: command, ended: ended) }
    return ended.text
}

/// Whether a command can be started here and ends with 0.
package func succeeds(_ command: [String]) -> Bool {
    (try? CommandRunner().waitForEnd(of: command).code) == 0
}

/// The folder of the test bundle, where SwiftPM also puts `pipectl`, its helpers, modules and dynamic libraries.
package enum Products {
    package static let folder: String = {
        #if canImport(Darwin)
            let tests =
                Bundle.allBundles.first { $0.bundlePath.hasSuffix(".xctest") }?.bundlePath ?? CommandLine.arguments[0]
        #else
            let tests = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
        #endif
        return URL(fileURLWithPath: tests).deletingLastPathComponent().path
    }()

    /// What the compiler keeps of libc and Foundation, for all tests: without it each that compiles pays a second.
    package static var moduleCache: String { FileManager.default.temporaryDirectory.path + "/pipectl-tests-modules" }

    package static func path(_ name: String) -> String { "\(folder)/\(name)" }
}
