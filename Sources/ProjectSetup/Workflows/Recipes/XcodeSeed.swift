import Foundation
import Pipeline

/// The two workflows of a repository that is one app: test on pull request, and on merge test, archive, sign and upload to
/// TestFlight.
struct XcodeSeed: Sendable {
    /// `project:` or `workspace:`, with its path.
    var container: (label: String, path: String)
    var scheme: String
    /// Whether the app is for iPhones; otherwise it is for Macs.
    var isForPhones: Bool
    /// From the project's settings; nil if it is not a plain text there.
    var team: String?
    var bundle: String?

    /// - Parameters:
    ///   - folder: The folder with the project.
    ///   - container: The name of the `.xcodeproj` or `.xcworkspace`.
    init(_ folder: SeedFolder, container: String, scheme: String) {
        self.container = (container.hasSuffix(".xcworkspace") ? "workspace" : "project", container)
        self.scheme = scheme
        let settings = XcodeProjects.paths(of: container, in: folder)
            .compactMap { folder.text("\($0)/project.pbxproj") }.joined(separator: "\n")
        team = settings.firstMatch(of: /DEVELOPMENT_TEAM = ([A-Z0-9]{10});/).map { String($0.1) }
        // The app's identifier is the shortest: those of tests and extensions begin with it.
        bundle = settings.matches(of: /PRODUCT_BUNDLE_IDENTIFIER = "?([A-Za-z0-9.-]+)"?;/).map { String($0.1) }
            .min { ($0.count, $0) < ($1.count, $1) }
        isForPhones = Self.isForPhones(settings, bundle)
    }

    /// Whether the app with an identifier is for iPhones, by the settings of its target, else by those of the project.
    private static func isForPhones(_ settings: String, _ bundle: String?) -> Bool {
        let targets = settings.matches(of: /buildSettings = \{(?s:.*?)\n\s*\};/).map { String($0.0) }
        let own = targets.filter { target in
            target.firstMatch(of: /PRODUCT_BUNDLE_IDENTIFIER = "?([A-Za-z0-9.-]+)"?;/)
                .map { String($0.1) == bundle } ?? false
        }.joined(separator: "\n")
        return isSupported(own) ?? isBuiltWithSDK(own) ?? isBuiltWithSDK(settings) ?? isSupported(settings) ?? false
    }

    /// Apps for several systems have the SDK "auto", and list the systems.
    private static func isSupported(_ settings: String) -> Bool? {
        let platforms = settings.matches(of: /SUPPORTED_PLATFORMS = "?([^";]*)"?;/)
        return platforms.isEmpty ? nil : platforms.contains { $0.1.split(separator: " ").contains("iphoneos") }
    }

    private static func isBuiltWithSDK(_ settings: String) -> Bool? {
        if settings.contains("SDKROOT = iphoneos") { return true }
        return settings.contains("SDKROOT = macosx") ? false : nil
    }

    func test(into target: String) -> String {
        """
        import Pipeline

        let app = Xcode(\(container.label): \(container.path.swiftLiteral), scheme: \(scheme.swiftLiteral))
        // `xcodebuild -showdestinations` lists what the tests can run on.
        let destination = XcodeDestination\(isForPhones ? ".simulator(\"iPhone 17\")" : ".mac")

        /// Tests every change as it would look once merged.
        let test = Workflow("test", on: .pullRequest(into: \(target))) {
            let resolve = app.resolve()
            app.test("unit tests", on: destination, needs: resolve)
        }

        """
    }

    func release(into target: String) -> String {
        """
        import Pipeline

        // App Store Connect shows id and issuer under Users and Access, Integrations. The key itself is a secret:
        // pipectl secrets set APPLE_KEY < AuthKey_ID.p8
        let appleKey = AppStoreKey("APPLE_KEY", id: "KEY_ID", issuer: "ISSUER_ID")
        // base64 -i Certificates.p12 | pipectl secrets set APPLE_CERTIFICATE; pipectl secrets set APPLE_CERTIFICATE_PASSWORD
        let signing = XcodeSigning(
            certificate: "APPLE_CERTIFICATE", password: "APPLE_CERTIFICATE_PASSWORD", provisioning: appleKey)

        /// Tests what was merged once more, archives it with release signing, and uploads it to TestFlight.
        let release = Workflow("release", on: .merge(into: \(target))) {
            let resolve = app.resolve()
            let test = app.test("unit tests", on: destination, needs: resolve)
            let archive = app.archive(on: \(isForPhones ? ".anyDevice" : ".anyMac"), signing: signing, needs: test)
            let options = ExportOptions(.appStoreConnect, team: \((team ?? "TEAM_ID").swiftLiteral))
            let export = app.export(options, signing: signing, needs: archive)
            // The build number is the number of commits; this is the version before it.
            let version = Release(version: .counted("1.0"), files: "build/export/*", needs: export)
            Step.publish("TestFlight", version, to: .testFlight(testFlight))
        }

        /// The app in App Store Connect, and the groups of testers that get each build.
        let testFlight = {
            var testFlight = TestFlight(
                app: \((bundle ?? "com.example.app").swiftLiteral), key: appleKey.secret, keyID: appleKey.id,
                issuer: appleKey.issuer, groups: [])
            testFlight.platform = "\(isForPhones ? "IOS" : "MAC_OS")"
            return testFlight
        }()

        """
    }
}
