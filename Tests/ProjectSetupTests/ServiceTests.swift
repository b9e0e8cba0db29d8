import Foundation
import Sandbox
import SystemCalls
import Synchronization
import TestBasics
import Testing

@testable import ProjectSetup

/// The service's file, and what is asked of systemd or launchd.
@Suite struct ServiceTests {
    private func file(_ manager: ServiceFile.Manager = .system) -> ServiceFile {
        ServiceFile(
            manager, executable: "/usr/local/bin/pipectl",
            searchPath: "/opt/swift/usr/bin:/usr/local/bin:/usr/bin:/bin")
    }

    @Test func `the documentation shows the unit that is written`() throws {
        let page = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("docs/service.md")
        let text = try String(contentsOf: page, encoding: .utf8)
        let block = try #require(text.firstRange(of: "```ini\n"))
        let end = try #require(text[block.upperBound...].firstRange(of: "```"))
        #expect(
            String(text[block.upperBound..<end.lowerBound])
                == "# /etc/systemd/system/pipectl.service\n\(file().text)")
    }

    @Test(arguments: [
        ("/opt/my tools/pipectl", "ExecStart=\"/opt/my tools/pipectl\" watch"),
        ("/opt/100%/$x/pipectl", "ExecStart=/opt/100%%/$$x/pipectl watch"),
        ("/opt/\"a\"\\b/pipectl", "ExecStart=\"/opt/\\\"a\\\"\\\\b/pipectl\" watch"),
    ])
    func `systemd starts exactly this program`(path: String, line: String) {
        var file = file()
        file.executable = path
        #expect(file.text.split(separator: "\n").contains { $0 == line })
    }

    @Test func `what would be another line of the file is refused`() {
        for change in [\ServiceFile.executable, \.searchPath, \.account] {
            var file = file()
            file[keyPath: change] = "/bin/true\nUser=root"
            #expect(throws: ServiceProblem.self) { try file.check() }
        }
        var relative = file()
        relative.executable = "pipectl"
        #expect(throws: ServiceProblem.self) { try relative.check() }
    }

    @Test(arguments: [ServiceFile.Manager.system, .user, .launchd])
    func `only the machine's service needs a user who exists`(manager: ServiceFile.Manager) throws {
        var file = file(manager)
        for (name, exists) in [("nobody", true), ("x y", false), ("\u{FC}", false), ("no such user", false)] {
            file.account = name
            if manager == .system, !exists {
                let problem = #expect(throws: ServiceProblem.self) { try file.checkAccount() }
                #expect(problem?.code == .unknownUser)
            } else {
                try file.checkAccount()
            }
        }
    }

    @Test func `a user has one record, by number and by name`() throws {
        let user = try #require(SystemUser.find(0))
        #expect(SystemUser.find(named: user.name) == user)
    }

    @Test(
        arguments: [
            ("/given", "nobody", "/given"), (nil, "nobody", nil), (nil, "ada", "/inherited"), (nil, nil, "/inherited"),
        ] as [(String?, String?, String?)])
    func `no other user's service takes over a state folder`(given: String?, account: String?, state: String?) {
        #expect(ServiceFile.state(given: given, inherited: "/inherited", account: account, own: "ada") == state)
    }

    @Test func `only the machine's service is hardened, and only the package waits for its settings`() {
        #expect(file().text.contains("\nProtectSystem=full\n"))
        #expect(!file(.user).text.contains("Protect"))
        #expect(!file(.user).text.contains("User="))
        #expect(!file().text.contains("Condition"))
        #expect(ServiceFile.packaged.text.contains("\nConditionPathExists=/etc/pipectl/config.json\n"))
        for manager in [ServiceFile.Manager.system, .user] {
            #expect(file(manager).text.contains("\nDelegate=yes\n"))
            #expect(file(manager).text.contains("\nKillMode=mixed\n"))
        }
    }

    @Test func `launchd's file is a property list with the same program`() throws {
        var file = file(.launchd)
        file.executable = "/opt/a & <b>/pipectl"
        file.state = "/srv/state"
        let parsed = try PropertyListSerialization.propertyList(from: Data(file.text.utf8), format: nil)
        let keys = try #require(parsed as? [String: Any])
        #expect(keys["ProgramArguments"] as? [String] == ["/opt/a & <b>/pipectl", "watch"])
        #expect((keys["EnvironmentVariables"] as? [String: String])?["PIPECTL_HOME"] == "/srv/state")
        #expect(keys["KeepAlive"] as? Bool == true)
    }

    // MARK: Installing

    /// A systemd that remembers what it was asked.
    private final class Manager: Sendable {
        enum Nature { case usual, refusing, failing }
        let asked = Mutex<[String]>([])
        let properties = Mutex("ActiveState=inactive\nSubState=dead")
        let nature: Nature

        init(_ nature: Nature = .usual) { self.nature = nature }

        func run(_ words: [String]) async throws -> ExternalCommandResult {
            let line = words.joined(separator: " ")
            asked.withLock { $0.append(line) }
            if nature == .refusing { return try await answer("refused", 1) }
            if line.hasPrefix("start") {
                if nature == .failing {
                    properties.withLock {
                        $0 = "ActiveState=activating\nSubState=auto-restart\nStatusText=wrong settings: a = b"
                    }
                    return try await answer("Job for pipectl.service failed.", 1)
                }
                properties.withLock { $0 = "ActiveState=active\nSubState=running" }
            }
            if line.contains("--now") { properties.withLock { $0 = "ActiveState=inactive\nSubState=dead" } }
            return try await answer(line.hasPrefix("show") ? properties.withLock { $0 } : "", 0)
        }

        private func answer(_ text: String, _ code: Int) async throws -> ExternalCommandResult {
            try await ExternalCommand("/bin/sh", ["-c", "echo \"$1\"; exit $2", "sh", text, "\(code)"]).run()
        }

        func take() -> [String] {
            asked.withLock { all in
                defer { all = [] }; return all
            }
        }
    }

    private func installation(_ file: ServiceFile, at path: String, _ manager: Manager) -> ServiceInstallation {
        ServiceInstallation(file, path: path, home: "/nowhere", say: { _ in }, manager: manager.run)
    }

    @Test(.timeLimit(.minutes(1))) func `installing again changes nothing, and a new file restarts the service`()
        async throws
    {
        let room = try TemporaryFolder()
        let path = "\(room.path)/units/pipectl.service"
        let manager = Manager()
        let first = installation(file(.user), at: path, manager)
        try await first.install()
        #expect(
            manager.take() == [
                "show --property=Version", "daemon-reload", "show --property=ActiveState,SubState,StatusText pipectl",
                "enable --quiet pipectl",
                "start pipectl",
            ])
        #expect(try await first.status() == .init(path: path, isInstalled: true, isCurrent: true, activity: .running))

        _ = manager.take()
        try await first.install()
        #expect(
            manager.take() == [
                "show --property=Version", "show --property=ActiveState,SubState,StatusText pipectl",
                "enable --quiet pipectl",
            ])

        var moved = file(.user)
        moved.executable = "/opt/pipectl/bin/pipectl"
        let second = installation(moved, at: path, manager)
        #expect(try await second.status().isCurrent == false)
        _ = manager.take()
        try await second.install()
        #expect(manager.take().last == "--no-block restart pipectl")
        #expect(try String(contentsOfFile: path, encoding: .utf8) == moved.text)
    }

    @Test(.timeLimit(.minutes(1))) func `uninstalling stops the service first, and again does nothing`() async throws {
        let room = try TemporaryFolder()
        let path = "\(room.path)/pipectl.service"
        let manager = Manager()
        let service = installation(file(.user), at: path, manager)
        try await service.install()
        _ = manager.take()
        try await service.uninstall()
        #expect(manager.take() == ["disable --quiet --now pipectl", "daemon-reload"])
        #expect(!FileManager.default.fileExists(atPath: path))
        try await service.uninstall()
        #expect(manager.take() == [])
        #expect(try await service.status().isInstalled == false)
    }

    @Test(.timeLimit(.minutes(1))) func `a manager that refuses is an error`() async throws {
        let room = try TemporaryFolder()
        let path = "\(room.path)/pipectl.service"
        let service = installation(file(.user), at: path, Manager(.refusing))
        let problem = await #expect(throws: ServiceProblem.self) { try await service.install() }
        #expect(problem?.code == .refused)
        #expect(!FileManager.default.fileExists(atPath: path))
    }

    @Test(.timeLimit(.minutes(1))) func `a service that ends at once is an error with its last words`() async throws {
        let room = try TemporaryFolder()
        let service = installation(file(.user), at: "\(room.path)/pipectl.service", Manager(.failing))
        let problem = await #expect(throws: ServiceProblem.self) { try await service.install() }
        #expect(problem?.code == .doesNotStart)
        #expect(problem?.description.contains("wrong settings: a = b") == true)
        let status = try await service.status()
        #expect(status.activity == .failed)
        #expect(status.reason == "wrong settings: a = b")
    }

    @Test(
        .timeLimit(.minutes(1)),
        arguments: [
            ("active", "running", ServiceInstallation.Activity.running), ("reloading", "reload", .running),
            ("activating", "start", .starting), ("activating", "auto-restart", .failed),
            ("activating", "auto-restart-queued", .failed), ("deactivating", "stop-sigterm", .stopping),
            ("failed", "failed", .failed), ("inactive", "dead", .stopped),
        ])
    func `what systemd says of the service`(active: String, sub: String, activity: ServiceInstallation.Activity)
        async throws
    {
        let room = try TemporaryFolder()
        let manager = Manager()
        let service = installation(file(.user), at: "\(room.path)/pipectl.service", manager)
        try await service.install()
        manager.properties.withLock { $0 = "SubState=\(sub)\nActiveState=\(active)\nStatusText=" }
        #expect(try await service.status().activity == activity)
        guard activity == .running else { return }
        manager.properties.withLock { $0 += "a run owns the folder" }
        let status = try await service.status()
        #expect(status.activity == .waiting)
        #expect(status.reason == "a run owns the folder")
    }

    // MARK: Readiness

    #if os(Linux)
        @Test(.timeLimit(.minutes(1))) func `systemd hears that the service is ready`() throws {
            let room = try TemporaryFolder()
            let path = "\(room.path)/notify"
            let number = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
            defer { close(number) }
            #expect(UnixAddress.with(path) { bind(number, $0, $1) } == 0)
            let notice = try #require(ServiceNotice(environment: ["NOTIFY_SOCKET": path]))
            notice.waits("a run owns the folder")
            notice.ready()
            notice.failed("wrong settings\nTwo lines.")
            for message in ["READY=1\nSTATUS=a run owns the folder", "READY=1\nSTATUS=", "STATUS=wrong settings"] {
                var bytes = [UInt8](repeating: 0, count: 64)
                let count = recv(number, &bytes, bytes.count, Int32(MSG_DONTWAIT))
                #expect(String(decoding: bytes.prefix(max(count, 0)), as: UTF8.self) == message)
            }
        }
    #endif

    @Test func `only a service of systemd says that it is ready`() {
        #expect(ServiceNotice(environment: [:]) == nil)
        #expect(ServiceNotice(environment: ["NOTIFY_SOCKET": "vsock:2:1"]) == nil)
        // Nobody listens there: nothing happens.
        ServiceNotice(environment: ["NOTIFY_SOCKET": "/nowhere/notify"])?.ready()
    }
}
