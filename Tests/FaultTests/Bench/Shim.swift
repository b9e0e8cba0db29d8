import TestBasics
import Foundation
import TestSupport

/// A library that pipectl loads before all others, compiled from `Shims/` for the test that uses it.
struct Shim {
    /// The name of the C file.
    enum Name: String { case disk, clock }

    let path: String

    /// Compiles the shim into the bench's folder.
    init(_ name: Name, _ bench: Bench) async throws {
        path = "\(bench.root)/\(name.rawValue).so"
        let source = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appendingPathComponent("Shims/\(name.rawValue).c").path
        let ended = try await bench.command(["cc", "-shared", "-fPIC", "-O1", "-o", path, source, "-ldl"])
        guard ended.code == 0 else { throw Bench.Failure(description: "cc \(source): \(ended.errors)") }
    }

    /// The variables that load it into pipectl.
    func variables(_ more: [String: String]) -> [String: String] { more.merging(["LD_PRELOAD": path]) { $1 } }
}

/// The moment at which the disk shim ends pipectl, or refuses a call.
struct Moment {
    /// Only calls whose `CALL PATH` contains this are counted: `"write ROOT/home/index.sqlite-wal"`.
    var match = ""
    /// The number of the counted call, from 1.
    var number: Int
    /// Whether a write at this moment first writes its first half.
    var isTorn = false
    /// The errno with which the call is refused; nil: pipectl is ended.
    var refusal: Int32?

    func variables(_ bench: Bench) -> [String: String] {
        var variables = [
            "FAULT_ROOT": bench.home, "FAULT_KILL_AT": String(number), "FAULT_MATCH": match,
            "FAULT_COUNT": "\(bench.root)/calls", "FAULT_TRACE": "\(bench.root)/hit",
        ]
        if isTorn { variables["FAULT_TORN"] = "1" }
        if let refusal { variables["FAULT_REFUSE"] = String(refusal) }
        return variables
    }
}

extension Bench {
    /// The same bench with other variables.
    func with(_ variables: [String: String]) -> Bench {
        var copy = self
        copy.variables.merge(variables) { $1 }
        return copy
    }

    /// The same bench with words before `pipectl watch`.
    func launched(by launcher: [String]) -> Bench {
        var copy = self
        copy.launcher = launcher
        return copy
    }

    /// Runs one observation that the disk shim ends at `moment`. Returns the call at that moment, or nil if there were
    /// fewer calls.
    func look(killedAt moment: Moment, _ shim: Shim) async throws -> String? {
        guard let (hit, ended) = try await look(hitAt: moment, shim) else { return nil }
        guard ended.code == 128 + SIGKILL else {
            throw Failure(description: "hit, but it ended with \(ended.code): \(ended.errors)")
        }
        return hit
    }

    /// Runs one observation that the disk shim ends or disturbs at `moment`. Returns the call at that moment and how
    /// the observation ended, or nil if there were fewer calls.
    func look(hitAt moment: Moment, _ shim: Shim) async throws -> (hit: String, ended: Ended)? {
        let hit = "\(root)/hit"
        try? FileManager.default.removeItem(atPath: hit)
        let ended = try await with(shim.variables(moment.variables(self))).look()
        guard let text = FileManager.default.contents(atPath: hit), !text.isEmpty else { return nil }
        let call = String(decoding: text, as: UTF8.self).trimmingCharacters(in: .newlines)
        return (call.replacingOccurrences(of: home, with: ""), ended)
    }
}
