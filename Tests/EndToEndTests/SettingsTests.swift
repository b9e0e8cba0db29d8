import TestBasics
import Foundation
import Results
import Settings
import TestSupport
import Testing

/// Settings with the built binary: the file, the environment, flags, and the running daemon's settings.
struct SettingsTests {
    private func write(_ text: String, _ bench: Bench) throws {
        try FileManager.default.createDirectory(
            atPath: bench.home, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        let path = "\(bench.home)/config.json"
        try Data(text.utf8).write(to: URL(fileURLWithPath: path))
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
    }

    private func shown(_ bench: Bench) async throws -> [String: SettingRecord] {
        let ended = try await bench.pipectl("config", "show", "--json")
        #expect(ended.code == 0, "\(ended.errors)")
        let records = try JSONDecoder().decode([SettingRecord].self, from: Data(ended.output.utf8))
        return Dictionary(records.map { ($0.key, $0) }) { first, _ in first }
    }

    @Test(.timeLimit(.minutes(6)))
    func `each value is shown with its source`() async throws {
        try await Bench.with { bench in
            var bench = bench
            try write("{\n  \"slots\": 3,\n  \"grace\": \"20s\"\n}\n", bench)
            bench.variables["PIPECTL_GRACE"] = "30s"
            let records = try await shown(bench)
            #expect(records["slots"]?.text == "3")
            #expect(records["slots"]?.source.line == 2)
            #expect(records["slots"]?.source.file?.hasSuffix("/config.json") == true)
            #expect(records["grace"]?.text == "30s")
            #expect(records["grace"]?.source.text == "PIPECTL_GRACE")
            #expect(records["logLimit"]?.text == "16MiB")
            #expect(records["logLimit"]?.source.text == "default")
            let text = try await bench.pipectl("config", "show", "--changed")
            #expect(text.output.split(separator: "\n").count == 3, "\(text.output)")
            #expect(try await bench.pipectl("config", "check").code == 0)
        }
    }

    @Test(.timeLimit(.minutes(6)))
    func `all mistakes are told at once, and nothing starts`() async throws {
        try await Bench.with { bench in
            try write("{\n  \"slot\": 3,\n  \"grace\": 10\n}\n", bench)
            for arguments in [["config", "check"], ["watch", "."], ["watch", "--once", "."], ["run", "test"]] {
                let ended = try await bench.command([Bench.pipectl] + arguments)
                #expect(ended.code == 2, "\(arguments): \(ended.errors)")
                #expect(ended.errors.contains("config.json, line 2: \"slot\""), "\(ended.errors)")
                #expect(ended.errors.contains("Did you mean \"slots\"?"), "\(ended.errors)")
                #expect(ended.errors.contains("config.json, line 3: \"grace\""), "\(ended.errors)")
            }
            try FileManager.default.setAttributes([.posixPermissions: 0o666], ofItemAtPath: "\(bench.home)/config.json")
            let open = try await bench.pipectl("config", "check")
            #expect(open.code == 2)
            #expect(open.errors.contains("chmod go-w"), "\(open.errors)")
            let missing = try await bench.pipectl("config", "check", "--config", "\(bench.root)/none.json")
            #expect(missing.code == 2)
        }
    }

    @Test(.timeLimit(.minutes(6)))
    func `watch without arguments watches the repositories of the file`() async throws {
        try await Bench.with { bench in
            let path = "\(bench.root)/elsewhere.json"
            let text = """
                {"minimumFree": 0, "sandbox": {"shared": ["\(bench.meet)"]},
                 "repositories": {"web": {"location": "\(bench.repository)", "changes": ["agent/*"]}}}
                """
            try Data(text.utf8).write(to: URL(fileURLWithPath: path))
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
            let none = try await bench.pipectl("watch", "--once")
            #expect(none.code == 2, "\(none.errors)")
            let baseline = try await bench.pipectl("watch", "--once", "--config", path)
            #expect(baseline.code == 0, "\(baseline.errors)")
            try await bench.git(["branch", "agent/one"])
            try await bench.git(["checkout", "-q", "agent/one"])
            try await bench.commit(["a.txt": "a\n"], "A change")
            try await bench.git(["checkout", "-q", "main"])
            let look = try await bench.pipectl("watch", "--once", "--config", path)
            #expect(look.code == 0, "\(look.errors)")
            let run = try #require(try await bench.runs().first)
            #expect(run.repository == "web")
            #expect(run.change == "agent/one")
        }
    }

    @Test(.timeLimit(.minutes(6)))
    func `a daemon is asked for its own settings`() async throws {
        try await Bench.with { bench in
            try write("{\"logLimit\": \"2MiB\", \"slots\": 2}", bench)
            try await bench.withDaemon("--grace", "7") { daemon in
                try write("{\"logLimit\": \"3MiB\", \"slots\": 2}", bench)
                let records = try await shown(bench)
                #expect(records["grace"]?.text == "7s")
                #expect(records["grace"]?.source.text == "--grace")
                #expect(records["logLimit"]?.text == "2MiB")
                #expect(records["logLimit"]?.source.kind == .file)
                let text = try await bench.pipectl("config", "show")
                #expect(
                    text.errors.contains("changed in the file since the daemon started: logLimit"), "\(text.errors)")
                let refused = try await bench.pipectl("run", "test", "--grace", "3s", "--slots", "2")
                #expect(refused.code == 2)
                #expect(refused.errors.contains("--grace 3s is a setting"), "\(refused.errors)")
            }
        }
    }
}
