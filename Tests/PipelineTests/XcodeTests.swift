import Foundation
import Testing

@testable import Pipeline

/// The command lines of Xcode's steps, after xcodebuild(1), xcresulttool(1) and security(1).
@Suite struct XcodeTests {
    private let app = Xcode(project: "My App.xcodeproj", scheme: "App")
    private let signing = XcodeSigning(
        certificate: "APPLE_CERTIFICATE", password: "APPLE_PASSWORD",
        provisioning: AppStoreKey("APPLE_KEY", id: "KEY", issuer: "ISSUER"))

    private func script(_ step: Step) throws -> String {
        guard case .shell(let line) = step.planned.action else { throw StepFailure("no shell") }
        return line
    }

    /// The words of each line that begins with `program`, as the shell splits them.
    private func lines(_ step: Step, _ program: String) throws -> [String] {
        try script(step).split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
            .filter { $0.hasPrefix(program) }
    }

    /// Whether `/bin/sh` reads the script, and what it does with programs that only note how they were called.
    private func run(
        _ step: Step, environment: [String: String] = [:], failing: String = "",
        identities: [String] = ["Apple Development", "Apple Distribution"]
    ) throws -> (status: Int32, calls: [String], left: [String]) {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("xcode-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let bin = folder.appendingPathComponent("bin")
        let temporary = folder.appendingPathComponent("tmp")
        for place in [bin, temporary, folder.appendingPathComponent("a b")] {
            try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
        }
        for program in ["xcodebuild", "xcrun", "security", "ditto"] {
            let text = """
                #!/bin/sh
                for word in "\(program)" "$@"; do printf '[%s]' "$word"; done >> "\(folder.path)/calls"
                echo >> "\(folder.path)/calls"
                case "\(program) $*" in
                *list-keychains\\ -d\\ user)
                    for name in "a b/login" c; do printf '    "%s/%s.keychain-db"\\n' "\(folder.path)" "$name"; done
                    printf '    "/gone/run.keychain-db"\\n' ;;
                *create-keychain*) for last; do :; done; touch "$last" ;;
                *find-identity\\ -v*) printf '%s\\n' "$IDENTITIES" ;;
                *resultBundlePath*)
                    ls build/DerivedData >> "\(folder.path)/calls" 2>/dev/null
                    mkdir -p build/test.xcresult build/DerivedData && touch build/DerivedData/packages ;;
                esac
                [ "\(program)" != "\(failing)" ]
                """
            let file = bin.appendingPathComponent(program)
            try Data(text.utf8).write(to: file)
            try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: file.path)
        }
        for (name, text) in [
            "c": "QUJD\n", "p": "secret", "k": "key", "a b/login.keychain-db": "", "c.keychain-db": "",
        ] {
            try Data(text.utf8).write(to: folder.appendingPathComponent(name))
        }
        // As security(1) lists them.
        let listed = identities.enumerated().map { "  \($0 + 1)) 0A1B2C3D4E \"\($1): Ada Example (ABCDE12345)\"" }
        let shell = Process()
        shell.executableURL = URL(fileURLWithPath: "/bin/sh")
        shell.arguments = ["-ec", try script(step)]
        shell.currentDirectoryURL = folder
        shell.environment = [
            "PATH": "\(bin.path):/usr/bin:/bin", "TMPDIR": temporary.path, "APPLE_CERTIFICATE_FILE": folder.path + "/c",
            "APPLE_PASSWORD_FILE": folder.path + "/p", "APPLE_KEY_FILE": folder.path + "/k",
            "IDENTITIES": (listed + ["     \(listed.count) valid identities found"]).joined(separator: "\n"),
        ].merging(environment) { $1 }
        try FileManager.default.createDirectory(
            at: folder.appendingPathComponent("build"), withIntermediateDirectories: true)
        try shell.run()
        shell.waitUntilExit()
        let calls = (try? String(contentsOf: folder.appendingPathComponent("calls"), encoding: .utf8)) ?? ""
        let left = try FileManager.default.contentsOfDirectory(atPath: temporary.path)
        return (shell.terminationStatus, calls.split(separator: "\n").map(String.init), left)
    }

    @Test func `packages are fetched with the network, and nothing else is`() throws {
        let step = app.resolve()
        #expect(step.planned.network == .allowed)
        #expect(
            try script(step)
                == "xcodebuild -project 'My App.xcodeproj' -scheme App -derivedDataPath build/DerivedData "
                + "-resolvePackageDependencies")
        #expect(app.resolve(needs: Step("pods", run: "pod install")).planned.needs == ["pods"])
        #expect(app.test(on: .mac).planned.network != .allowed)
    }

    @Test(.timeLimit(.minutes(1))) func `tests write a result bundle, which is read also after a failure`() throws {
        let step = app.test(on: .simulator("iPhone 17", os: "26.0"), plan: "All")
        #expect(step.planned.resources.map(\.resource.name) == ["simulator"])
        #expect(step.planned.testResults == [.file("build/test.json")])
        let done = try run(step, failing: "xcodebuild")
        #expect(done.status == 1)
        #expect(
            done.calls == [
                "[xcodebuild][-project][My App.xcodeproj][-scheme][App][-derivedDataPath][build/DerivedData][-destination]"
                    + "[platform=iOS Simulator,name=iPhone 17,OS=26.0][-resultBundlePath][build/test.xcresult][-testPlan][All]"
                    + "[test]",
                "[xcrun][xcresulttool][get][test-results][tests][--path][build/test.xcresult][--compact]",
                "[xcrun][xcresulttool][export][attachments][--path][build/test.xcresult][--output-path]"
                    + "[build/test-attachments][--only-failures]",
            ])
    }

    @Test(.timeLimit(.minutes(1))) func `warm tests start from what passed last, and a change keeps nothing`() throws {
        let cache = FileManager.default.temporaryDirectory.appendingPathComponent("cache-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: cache, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: cache) }
        let environment = ["PIPECTL_CACHE_DERIVED_DATA": cache.path]
        let step = app.warmDerivedData().test(on: .mac)
        #expect(step.planned.caches.map(\.name) == ["derived-data"] && app.test(on: .mac).planned.caches.isEmpty)
        func kept() throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: cache.path).sorted() }
        let failed = try run(step, environment: environment, failing: "xcodebuild")
        #expect(failed.status == 1)
        #expect(try kept().isEmpty)
        let first = try run(step, environment: environment)
        #expect(first.status == 0 && !first.calls.contains("packages"))
        #expect(try kept() == ["App"])
        let second = try run(step, environment: environment)
        #expect(second.status == 0 && second.calls.contains("packages"))
        // Without a cache, as on a machine that has none yet, and where it can't be written.
        #expect(try run(step, environment: ["PIPECTL_CACHE_DERIVED_DATA": "/nonexistent"]).status == 0)
        #expect(try run(app.warmDerivedData().resolve(), environment: environment).status == 0)
    }

    @Test(.timeLimit(.minutes(1))) func `an archive is signed from a keychain of its own, which is gone afterwards`()
        throws
    {
        let step = app.archive(signing: signing)
        #expect(step.planned.secrets.map(\.name) == ["APPLE_CERTIFICATE", "APPLE_PASSWORD", "APPLE_KEY"])
        // Another one, also of another repository, would take this keychain out of the search list.
        #expect(step.planned.resources.map(\.resource) == [Resource("signing-keychain", capacity: 1)])
        let export = app.export(ExportOptions(.appStoreConnect, team: "ABCDE12345"), signing: signing)
        #expect(export.planned.resources == step.planned.resources)
        let done = try run(
            step,
            environment: [
                "PIPECTL_VERSION": "1.4.812", "PIPECTL_MARKETING_VERSION": "1.4", "PIPECTL_BUILD_NUMBER": "812",
            ])
        #expect(done.status == 0)
        #expect(done.left.isEmpty)
        let calls = done.calls
        let verbs = calls.compactMap { $0.hasPrefix("[security]") ? $0.split(separator: "]")[1].dropFirst() : nil }
        #expect(
            verbs == [
                "create-keychain", "set-keychain-settings", "unlock-keychain", "import", "set-key-partition-list",
                "list-keychains", "list-keychains", "find-identity", "delete-keychain",
            ])
        // The .pkg of a Mac app is signed by productbuild.
        let imported = try #require(calls.first { $0.hasPrefix("[security][import]") })
        #expect(imported.hasSuffix("[-T][/usr/bin/productbuild][-T][/usr/bin/productsign]"))
        let allowed = try #require(calls.first { $0.hasPrefix("[security][set-key-partition-list]") })
        #expect(allowed.contains("[-S][apple-tool:,apple:,codesign:,productbuild:,productsign:][-s][-k]"))
        // The other keychains stay in the search list, also those with blanks, but not what a killed run has left.
        let list = try #require(calls.first { $0.hasPrefix("[security][list-keychains][-d][user][-s]") })
        #expect(
            list.split(separator: "][").dropFirst(6).map { $0.hasSuffix("/a b/login.keychain-db") } == [true, false])
        #expect(list.hasSuffix("/c.keychain-db]"))
        let build = try #require(calls.first { $0.hasPrefix("[xcodebuild]") })
        #expect(
            build.contains("[-archivePath][build/App.xcarchive][-allowProvisioningUpdates][-authenticationKeyPath]"))
        #expect(build.contains("/k][-authenticationKeyID][KEY][-authenticationKeyIssuerID][ISSUER][archive]"))
        #expect(build.hasSuffix("[MARKETING_VERSION=1.4][CURRENT_PROJECT_VERSION=812]"))
    }

    @Test func `an individual key has no issuer`() throws {
        let signing = XcodeSigning(
            certificate: "APPLE_CERTIFICATE", password: "APPLE_PASSWORD",
            provisioning: AppStoreKey("APPLE_KEY", id: "KEY"))
        let line = try #require(try lines(app.archive(signing: signing), "xcodebuild").last)
        #expect(line.contains("-authenticationKeyID KEY archive") && !line.contains("-authenticationKeyIssuerID"))
    }

    @Test(.timeLimit(.minutes(1)), arguments: ["xcodebuild", "security"])
    func `the keychain is removed after a failure, too`(failing: String) throws {
        let done = try run(app.archive(signing: signing), failing: failing)
        #expect(done.status != 0)
        #expect(done.left.isEmpty)
        #expect(done.calls.last?.hasPrefix("[security][delete-keychain]") == true)
    }

    /// Without a development certificate Xcode would make another one at Apple in each run.
    @Test(
        .timeLimit(.minutes(1)),
        arguments: [
            (["Apple Development"], true), (["iPhone Developer"], true),
            (["Mac Developer", "Apple Distribution"], true),
            (["Apple Distribution"], false), ([], false),
        ])
    func `an archive needs a development certificate before it asks Xcode`(names: [String], passes: Bool) throws {
        let done = try run(app.archive(signing: signing), identities: names)
        #expect((done.status == 0) == passes)
        #expect(done.calls.contains { $0.hasPrefix("[xcodebuild]") } == passes)
        #expect(done.left.isEmpty)
    }

    @Test(.timeLimit(.minutes(1))) func `what Xcode makes no certificate for needs none for development`() throws {
        var manual = signing
        manual.style = .manual
        #expect(try run(app.archive(signing: manual), identities: ["Apple Distribution"]).status == 0)
        manual = XcodeSigning(certificate: "APPLE_CERTIFICATE", password: "APPLE_PASSWORD")
        #expect(try run(app.archive(signing: manual), identities: ["Apple Distribution"]).status == 0)
    }

    @Test(
        .timeLimit(.minutes(1)),
        arguments: [
            (ExportOptions.Method.appStoreConnect, "Apple Distribution", true),
            (.appStoreConnect, "3rd Party Mac Developer Application", true),
            (.appStoreConnect, "Apple Development", false),
            (.releaseTesting, "iPhone Distribution", true), (.releaseTesting, "Developer ID Application", false),
            (.enterprise, "iPhone Distribution", true), (.developerID, "Developer ID Application", true),
            (.developerID, "Apple Distribution", false), (.debugging, "Apple Development", true),
            (.debugging, "Apple Distribution", false),
        ])
    func `an export needs the certificate of its method`(method: ExportOptions.Method, name: String, passes: Bool)
        throws
    {
        let ownOnly = XcodeSigning(certificate: "APPLE_CERTIFICATE", password: "APPLE_PASSWORD")
        for (signing, profiles) in [(signing, ["com.example.app": "App"]), (ownOnly, [:])] {
            let options = ExportOptions(method, team: "ABCDE12345", profiles: profiles)
            let done = try run(app.export(options, signing: signing), identities: [name])
            #expect((done.status == 0) == passes)
            #expect(done.calls.contains { $0.hasPrefix("[xcodebuild]") } == passes)
            #expect(done.left.isEmpty)
        }
        // Apple may have another one.
        let options = ExportOptions(method, team: "ABCDE12345")
        let done = try run(app.export(options, signing: signing), identities: [name])
        #expect((done.status == 0) == (passes || method != .debugging))
    }

    @Test(.timeLimit(.minutes(1))) func `an export has its options as a property list`() throws {
        let done = try run(
            app.export(ExportOptions(.appStoreConnect, team: "ABCDE12345"), signing: signing))
        #expect(done.status == 0)
        #expect(
            done.calls.contains {
                $0.hasPrefix(
                    "[xcodebuild][-exportArchive][-archivePath][build/App.xcarchive][-exportPath][build/export]"
                        + "[-exportOptionsPlist][build/ExportOptions.plist][-allowProvisioningUpdates]")
            })
    }

    @Test(arguments: ExportOptions.Method.allCases)
    func `export options are a readable property list`(method: ExportOptions.Method) throws {
        var options = ExportOptions(method, team: "ABCDE12345", profiles: ["com.example.app": "A & B <C>"])
        let name = "App"
        options.more = [
            "thinning": "<none>", "testFlightInternalTestingOnly": true, "count": 3, "teamID": "\(name)",
            "manifest": ["appURL": "https://example.com/a?b&c", "displayImageURL": .string(name)],
        ]
        let list = try PropertyListSerialization.propertyList(from: Data(options.plist.utf8), format: nil)
        let values = try #require(list as? [String: Any])
        #expect(values["method"] as? String == method.rawValue)
        #expect(values["signingStyle"] as? String == "manual")
        #expect((values["provisioningProfiles"] as? [String: String])?["com.example.app"] == "A & B <C>")
        #expect(values["thinning"] as? String == "<none>")
        #expect(values["testFlightInternalTestingOnly"] as? Bool == true)
        #expect(values["count"] as? Int == 3)
        #expect(values["teamID"] as? String == "App")
        #expect(
            values["manifest"] as? [String: String] == [
                "appURL": "https://example.com/a?b&c", "displayImageURL": "App",
            ])
        #expect((values["manageAppVersionAndBuildNumber"] as? Bool) == (method == .appStoreConnect ? false : nil))
    }
}
