import Foundation
import Pipeline

/// The two workflows of an app: test on pull request, and on merge test, archive, sign and upload to TestFlight.
struct XcodeSeed: Sendable {
    /// What a command's paths are relative to.
    enum Place { case top, folder }

    /// The project's folder, relative to the top of the repository; empty for the top itself.
    let folder: String
    /// The name of the `.xcodeproj` or `.xcworkspace`.
    let container: String
    let schemes: XcodeSchemeChoice
    /// Whether the app is for iPhones; otherwise it is for Macs.
    let isForPhones: Bool
    /// From the project's settings; nil if it is not a plain text there.
    let team: String?
    let bundle: String?
    let version: String?
    let preparation: XcodePreparation

    /// - Parameters:
    ///   - folder: The folder with the project.
    ///   - container: The name of the `.xcodeproj` or `.xcworkspace`.
    init(_ folder: SeedFolder, container: String, schemes: XcodeSchemeChoice) {
        self.folder = folder.path
        self.container = container
        self.schemes = schemes
        let settings = XcodeProjects.paths(of: container, in: folder)
            .compactMap { folder.text("\($0)/project.pbxproj") }.joined(separator: "\n")
        let target = XcodeTarget(settings, id: schemes.app.target)
        (team, bundle, isForPhones) = (target.team, target.bundle, target.isForPhones)
        preparation = XcodePreparation(folder)
        version = preparation.framework == .flutter ? preparation.version : target.version
    }

    // MARK: Commands

    private func path(in place: Place) -> String {
        place == .folder || folder.isEmpty ? container : "\(folder)/\(container)"
    }

    private var isWorkspace: Bool { container.hasSuffix(".xcworkspace") }

    /// A line that runs `xcodebuild`.
    func xcodebuild(_ arguments: String, in place: Place) -> String {
        let scheme = (schemes.tested ?? schemes.app).name
        return "xcodebuild \(isWorkspace ? "-workspace" : "-project") \(path(in: place).shellQuoted) "
            + "-scheme \(scheme.shellQuoted) -derivedDataPath build/DerivedData \(arguments)"
    }

    /// The step that tests a change, or builds it where nothing is tested.
    func tests(in place: Place) -> SeedRecipe.SeedStep {
        guard schemes.tested != nil else {
            let system = isForPhones ? "iOS Simulator" : "macOS"
            let line = xcodebuild("-destination 'generic/platform=\(system)' CODE_SIGNING_ALLOWED=NO build", in: place)
            return SeedRecipe.SeedStep(
                name: "build", command: line, needs: ["resolve"], timeout: 45,
                comment: "The scheme has no tests, so a change is only built.")
        }
        let system = isForPhones ? "platform=iOS Simulator,name=iPhone 17" : "platform=macOS"
        // xcodebuild refuses to overwrite a result bundle.
        let line = xcodebuild("-destination '\(system)' -resultBundlePath build/tests.xcresult test", in: place)
        var tests = SeedRecipe.SeedStep.tests("rm -rf build/tests.xcresult && \(line)", timeout: 30)
        tests.comment = "`xcodebuild -showdestinations` lists what the tests can run on."
        tests.artifacts = ["build/tests.xcresult/**"]
        return tests
    }

    // MARK: Sentences

    /// What a person should know about the workflows, a sentence each.
    var notes: [String] {
        let path = path(in: .top)
        let app = schemes.app.name
        var notes = preparation.gaps.map { "\(path): \($0)" }
        if let tested = schemes.tested {
            if tested.name != app {
                notes.append("\(path): the scheme \(app) has no tests, so \(tested.name) is tested")
            }
        } else {
            notes.append("\(path): the scheme \(app) has no tests, so a change is only built")
        }
        if !schemes.others.isEmpty {
            notes.append(
                "\(path): the workflows take the scheme \(app); not set up: \(schemes.others.joined(separator: ", "))")
        }
        return notes
    }

    /// The words in the workflow that a person must replace. `pipectl validate` refuses them.
    var placeholders: [String] {
        ["KEY_ID", "ISSUER_ID"] + (team == nil ? ["TEAM_ID"] : []) + (bundle == nil ? ["BUNDLE_ID"] : [])
    }

    // MARK: Workflows

    private func xcode(_ scheme: String) -> String {
        let label = isWorkspace ? "workspace" : "project"
        return "Xcode(\(label): \(path(in: .top).swiftLiteral), scheme: \(scheme.swiftLiteral))"
    }

    /// What both workflows use.
    private var declarations: String {
        var lines = ["let app = \(xcode(schemes.app.name))"]
        if !schemes.others.isEmpty {
            // A literal has no end of line, whatever the file is called.
            let names = schemes.others.map(\.swiftLiteral).joined(separator: ", ")
            lines.append("// Not set up: the shared schemes \(names). Write a value like this one for each.")
        }
        if let tested = schemes.tested {
            if tested.name != schemes.app.name {
                lines += ["// The app's own scheme has no tests.", "let tested = \(xcode(tested.name))"]
            }
            lines += [
                "// `xcodebuild -showdestinations` lists what the tests can run on.",
                "let destination = XcodeDestination\(isForPhones ? ".simulator(\"iPhone 17\")" : ".mac")",
            ]
        }
        return lines.joined(separator: "\n")
    }

    /// The steps before the first that builds, the last of which is `resolve`.
    private func beginning(inRelease: Bool) -> String {
        let parts = preparation.parts.map { part in
            var step = part.step
            if inRelease, let release = part.release { step.command = release }
            return SeedText.source(step, in: part.folder, isNeeded: true)
        }
        let gaps = preparation.gaps.map { "    // \($0).\n" }
        let last = preparation.parts.last.map { "needs: \($0.step.name.swiftName)" } ?? ""
        return (parts + gaps + ["    let resolve = app.resolve(\(last))"]).joined()
    }

    private var testing: String {
        let xcode = schemes.tested == nil || schemes.tested?.name == schemes.app.name ? "app" : "tested"
        return "\(xcode).test(\"unit tests\", on: destination, needs: resolve)"
    }

    /// - Parameters:
    ///   - variable: The workflow's name in Swift.
    ///   - name: Its name for people.
    func test(into target: String, variable: String, name: String) -> String {
        let tests =
            schemes.tested == nil
            ? SeedText.source(tests(in: .top), in: "", isNeeded: false) : "    \(testing)\n"
        let more = preparation.tests.map { SeedText.source($0.step, in: $0.folder, isNeeded: false) } ?? ""
        return """
            import Pipeline

            \(declarations)

            /// \(schemes.tested == nil ? "Builds" : "Tests") every change as it would look once merged.
            let \(variable) = Workflow("\(name)", on: .pullRequest(into: \(target))) {
            \(beginning(inRelease: false))
            \(more)\(tests)}
            .on(.macOS)

            """
    }

    /// - Parameters:
    ///   - variable: The workflow's name in Swift.
    ///   - name: Its name for people.
    func release(into target: String, variable: String, name: String) -> String {
        let isTested = schemes.tested != nil
        let test = isTested ? "\n    let test = \(testing)" : ""
        let destination = isForPhones ? ".anyDevice" : ".anyMac"
        let unread =
            version == nil
            ? "\n    // The project's MARKETING_VERSION could not be read: write the app's version instead of 1.0." : ""
        return """
            import Pipeline

            // Write your values for \(placeholders.joined(separator: ", ")). App Store Connect shows the key's id and the issuer
            // under Users and Access, Integrations. The key itself is a secret:
            // pipectl secrets set APPLE_KEY < AuthKey_ID.p8
            let appleKey = AppStoreKey("APPLE_KEY", id: "KEY_ID", issuer: "ISSUER_ID")
            // One file with both certificates, Apple Development and Apple Distribution, and their private keys:
            // base64 -i Certificates.p12 | pipectl secrets set APPLE_CERTIFICATE; pipectl secrets set APPLE_CERTIFICATE_PASSWORD
            let signing = XcodeSigning(
                certificate: "APPLE_CERTIFICATE", password: "APPLE_CERTIFICATE_PASSWORD", provisioning: appleKey)

            /// \(isTested ? "Tests what was merged once more, archives it" : "Archives what was merged") with release signing, \
            and uploads it to TestFlight.
            let \(variable) = Workflow("\(name)", on: .merge(into: \(target))) {
            \(beginning(inRelease: true))\(test)
                let archive = app.archive(on: \(destination), signing: signing, needs: \(isTested ? "test" : "resolve"))
                let options = ExportOptions(.appStoreConnect, team: \((team ?? "TEAM_ID").swiftLiteral))
                let export = app.export(options, signing: signing, needs: archive)
                // The version that people see; raise it here. The build number is the number of commits.\(unread)
                let version = Release(version: .counted(\((version ?? "1.0").swiftLiteral)), files: "build/export/*", needs: export)
                // If a person decides what testers get, use this line instead of the last one:
                // Step.publish("TestFlight", version, needs: .approval("ship it", needs: version.step), to: .testFlight(testFlight))
                Step.publish("TestFlight", version, to: .testFlight(testFlight))
            }
            .on(.macOS)

            /// The app in App Store Connect. Groups of testers get each build if their names are here: `groups: ["Inside"]`.
            let testFlight = {
                var testFlight = TestFlight(
                    app: \((bundle ?? "BUNDLE_ID").swiftLiteral), key: appleKey.secret, keyID: appleKey.id,
                    issuer: appleKey.issuer, groups: [])
                testFlight.platform = "\(isForPhones ? "IOS" : "MAC_OS")"
                return testFlight
            }()

            """
    }
}
