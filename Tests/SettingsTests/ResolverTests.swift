import Foundation
import Testing

@testable import Settings

@Suite struct ResolverTests {
    @Test func `without any source nothing is set`() throws {
        let settings = try resolve()
        #expect(settings.entries.isEmpty)
        #expect(settings.records.first { $0.key == "grace" }?.text == "10s")
        #expect(settings.records.first { $0.key == "slots" }?.text == "the number of processors")
        #expect(settings.records.allSatisfy { $0.source.kind == .standard })
    }

    @Test func `every kind is read from the file`() throws {
        let settings = try resolve(
            """
            {
              "slots": 4, "grace": "20s", "logLimit": "64MiB", "limits": {"step": {"memory": "4GiB"}},
              "proofs": {"sampling": 0.5}, "notes": true, "notify": {"url": "https://x/y"},
              "watch": {"changes": ["agent/*", "a,b"], "target": "main"}, "resources": {"simulator": 2}
            }
            """)
        #expect(settings["slots"] == .whole(4))
        #expect(settings["grace"] == .duration(.seconds(20)))
        #expect(settings["logLimit"] == .size(64 << 20))
        #expect(settings["limits.step.memory"] == .size(4 << 30))
        #expect(settings["proofs.sampling"] == .share(0.5))
        #expect(settings["notes"] == .flag(true))
        #expect(settings["watch.changes"] == .list(["agent/*", "a,b"]))
        #expect(settings["watch.target"] == .text("main"))
        #expect(settings["resources"] == .counts(["simulator": 2]))
        #expect(settings.entries["grace"]?.source == SettingSource(kind: .file, file: "/box/config.json", line: 2))
    }

    @Test func `every kind is read from the environment`() throws {
        let settings = try resolve(
            environment: [
                "PIPECTL_SLOTS": "4", "PIPECTL_GRACE": "20s", "PIPECTL_LOG_LIMIT": "64MiB",
                "PIPECTL_LIMITS_STEP_MEMORY": "0", "PIPECTL_PROOFS_SAMPLING": "1", "PIPECTL_NOTES": "true",
                "PIPECTL_WATCH_CHANGES": "agent/*, fix/*", "PIPECTL_RESOURCES": "simulator=2,gpu=1",
                "PIPECTL_HOME": "/elsewhere", "PATH": "/bin",
            ])
        #expect(settings["slots"] == .whole(4))
        #expect(settings["logLimit"] == .size(64 << 20))
        #expect(settings["limits.step.memory"] == .size(0))
        #expect(settings["notes"] == .flag(true))
        #expect(settings["watch.changes"] == .list(["agent/*", "fix/*"]))
        #expect(settings["resources"] == .counts(["simulator": 2, "gpu": 1]))
        #expect(settings.entries["logLimit"]?.source == SettingSource(kind: .environment, name: "PIPECTL_LOG_LIMIT"))
    }

    @Test func `a flag goes before the environment, the environment before the file`() throws {
        let file = "{\"slots\": 1, \"grace\": \"1s\", \"watch\": {\"changes\": [\"a/*\"]}}"
        let environment = ["PIPECTL_SLOTS": "2", "PIPECTL_GRACE": "2s"]
        let settings = try resolve(
            file, environment: environment,
            flags: [("slots", "3"), ("watch.changes", "b/*"), ("watch.changes", "c,d/*")])
        #expect(settings["slots"] == .whole(3))
        #expect(settings.entries["slots"]?.source == SettingSource(kind: .flag, name: "--slots"))
        #expect(settings["grace"] == .duration(.seconds(2)))
        #expect(settings["watch.changes"] == .list(["b/*", "c,d/*"]))
    }

    @Test func `an empty variable is an empty list`() throws {
        let settings = try resolve("{\"watch\": {\"changes\": [\"a\"]}}", environment: ["PIPECTL_WATCH_CHANGES": ""])
        #expect(settings["watch.changes"] == .list([]))
    }

    @Test func `only flags take numbers without a unit`() throws {
        #expect(try resolve(flags: [("grace", "7"), ("logLimit", "2")])["grace"] == .duration(.seconds(7)))
        #expect(problems("{}", environment: ["PIPECTL_GRACE": "7"]) == ["wrongValue PIPECTL_GRACE"])
        #expect(problems("{\"grace\": 7}") == ["wrongType grace:1"])
    }

    @Test func `a repository has values of its own, under flags and the environment`() throws {
        let file = """
            {
              "watch": {"target": "main", "changes": ["a/*"]},
              "repositories": {
                "web": {"location": "/srv/web.git", "target": "trunk"},
                "tool": {"location": "https://me:token@git.example.com/tool", "changes": []}
              }
            }
            """
        let settings = try resolve(file)
        let web = try #require(settings.repositories.first { $0.name == "web" })
        let tool = try #require(settings.repositories.first { $0.name == "tool" })
        #expect(web["watch.target"] == .text("trunk"))
        #expect(web["watch.changes"] == .list(["a/*"]))
        #expect(tool["watch.target"] == .text("main"))
        #expect(tool["watch.changes"] == .list([]))
        let shown = settings.records.map(\.key).filter { $0.hasPrefix("repositories.") }
        #expect(
            shown == [
                "repositories.web.location", "repositories.web.target", "repositories.tool.location",
                "repositories.tool.changes",
            ])
        let above = try resolve(file, environment: ["PIPECTL_WATCH_CHANGES": "e/*"], flags: [("watch.target", "next")])
        #expect(above.repositories.allSatisfy { $0["watch.target"] == .text("next") })
        #expect(above.repositories.allSatisfy { $0["watch.changes"] == .list(["e/*"]) })
    }

    @Test func `what may be secret is not shown`() throws {
        let settings = try resolve(
            """
            {"notify": {"url": "https://me:pw@hooks.example.com/services/T0/token?x=y"},
             "repositories": {"tool": {"location": "https://me:token@git.example.com/tool"}}}
            """)
        let texts = settings.records.map(\.text)
        #expect(texts.contains("https://hooks.example.com/…"))
        #expect(texts.contains("https://git.example.com/tool"))
        #expect(!texts.contains { $0.contains("token@") || $0.contains("pw") || $0.contains("T0") })
    }

    @Test func `records come through JSON unchanged in what they show`() throws {
        let settings = try resolve(
            "{\"slots\": 4, \"grace\": \"90s\", \"resources\": {\"a\": 1}, \"proofs\": {\"sampling\": 1}, \"notes\": true}"
        )
        let records = settings.records
        let read = try JSONDecoder().decode([SettingRecord].self, from: JSONEncoder().encode(records))
        #expect(read.map(\.key) == records.map(\.key))
        #expect(read.map(\.source) == records.map(\.source))
        #expect(
            read.filter { $0.key != "proofs.sampling" }.map(\.text)
                == records.filter { $0.key != "proofs.sampling" }.map(\.text))
    }

    @Test func `the name of a variable is the key in capitals`() throws {
        for setting in table.settings {
            let text =
                switch setting.kind {
                case .flag: "true"
                case .whole: "4"
                case .share: "1"
                case .duration: "1s"
                case .size: "1MiB"
                case .counts: "a=1"
                case .text, .list: "x"
                }
            let entry = try resolve(environment: [setting.environmentName: text]).entries[setting.key]
            #expect(entry?.source.name == setting.environmentName)
        }
    }
}
