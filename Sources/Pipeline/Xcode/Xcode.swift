/// Steps that build, test, archive and export with Xcode. They run on a Mac.
///
/// ```swift
/// let app = Xcode(project: "App.xcodeproj", scheme: "App")
/// let signing = XcodeSigning(
///     certificate: "APPLE_CERTIFICATE", password: "APPLE_CERTIFICATE_PASSWORD",
///     provisioning: AppStoreKey("APPLE_KEY", id: "2X9R4HXF34", issuer: "57246542-96fe-1a63-e053-0824d011072a"))
///
/// let release = Workflow("release", on: .merge(into: "main")) {
///     let resolve = app.resolve()
///     let test = app.test(on: .simulator("iPhone 17"), needs: resolve)
///     let archive = app.archive(signing: signing, needs: test)
///     let export = app.export(ExportOptions(.appStoreConnect, team: "ABCDE12345"), signing: signing, needs: archive)
///     let version = Release(version: .counted("1.4"), files: "build/export/*", needs: export)
///     Step.publish("TestFlight", version, to: .testFlight(…))
/// }
/// ```
///
/// All that they make is below `build/`. Each step that signs has a keychain of its own, which it removes at its end.
public struct Xcode: Sendable, Equatable {
    /// `-project` or `-workspace`, and its path.
    let container: [String]
    let scheme: String
    private(set) var keepsDerivedData = false

    /// A project, with one of its shared schemes.
    ///
    /// - Parameters:
    ///   - project: The path of the `.xcodeproj`, below the workspace of the run.
    ///   - scheme: The name of the scheme.
    public init(project: String, scheme: String) {
        container = ["-project", project]
        self.scheme = scheme
    }

    /// An Xcode workspace, with one of its shared schemes.
    ///
    /// - Parameters:
    ///   - workspace: The path of the `.xcworkspace`, below the workspace of the run.
    ///   - scheme: The name of the scheme.
    public init(workspace: String, scheme: String) {
        container = ["-workspace", workspace]
        self.scheme = scheme
    }

    static let derivedData = "build/DerivedData"
    static let archive = "build/App.xcarchive"
    static let export = "build/export"

    /// Starts each run from the DerivedData that the last merged run has left, which is cloned: on APFS that takes no time
    /// and no space.
    ///
    /// Packages and modules need not be built again then. The files of the project have the time of the checkout, so the
    /// project itself is. Workflows that release should build from nothing, without this.
    public func warmDerivedData() -> Xcode {
        var warm = self
        warm.keepsDerivedData = true
        return warm
    }

    // MARK: Steps

    /// Fetches the Swift packages of the project, with the network.
    ///
    /// - Parameters:
    ///   - name: Unique in the workflow.
    ///   - needs: The steps that make what the project refers to, such as `pod install`.
    public func resolve(_ name: String = "resolve", needs: Step...) -> Step {
        let line = xcodebuild().with("-resolvePackageDependencies").line
        return warm(Step(name, needs: needs, run: keepsDerivedData ? "\(beginning)\n\(line)" : line)).network(.allowed)
    }

    private static let cache = "derived-data"
    /// The folder in the cache, as the shell reads it.
    private var kept: String { "\"$\(StepVariable.cache(Self.cache))\"/\(scheme.fileName)" }

    private func warm(_ step: Step) -> Step {
        keepsDerivedData ? step.cache(Self.cache, at: "~/Library/Caches/pipectl-\(Self.cache)") : step
    }

    /// Clones the kept folder, if no step before has made one.
    private var beginning: String {
        """
        mkdir -p build
        if [ ! -e \(Self.derivedData) ] && [ -d \(kept) ]; then
            \(Self.clone(kept, Self.derivedData))
        fi
        """
    }

    /// Keeps what was built. A run of a change can't write the cache.
    private var ending: String {
        """
        if [ "$status" = 0 ] && [ -w "$\(StepVariable.cache(Self.cache))" ]; then
            rm -rf \(kept).new
            \(Self.clone(Self.derivedData, "\(kept).new"))
            rm -rf \(kept)
            mv \(kept).new \(kept)
        fi
        """
    }

    /// Copies a folder; only APFS can clone.
    private static func clone(_ from: String, _ to: String) -> String {
        "cp -Rc \(from) \(to) 2>/dev/null || { rm -rf \(to); cp -R \(from) \(to); }"
    }

    /// Builds and tests, and reads the tests from the result bundle.
    ///
    /// The attachments of tests that failed, such as screenshots, are artifacts.
    ///
    /// - Parameters:
    ///   - name: Unique in the workflow.
    ///   - destination: Where the tests run.
    ///   - plan: A test plan of the scheme; nil: the scheme's own.
    ///   - needs: The steps before it.
    public func test(
        _ name: String = "test", on destination: XcodeDestination, plan: String? = nil, needs: Step...
    ) -> Step {
        let bundle = "build/\(name.fileName).xcresult"
        let results = "build/\(name.fileName).json"
        let attachments = "build/\(name.fileName)-attachments"
        var command = xcodebuild().with("-destination", destination.text).with("-resultBundlePath", bundle)
        if let plan { command = command.with("-testPlan", plan) }
        let read = XcodeCommand("xcrun", "xcresulttool", "get", "test-results", "tests", "--path", bundle, "--compact")
        let copy = XcodeCommand(
            "xcrun", "xcresulttool", "export", "attachments", "--path", bundle, "--output-path", attachments,
            "--only-failures")
        let step = Step(
            name, needs: needs,
            run: """
                # xcodebuild refuses to overwrite a result bundle.
                rm -rf \(bundle.shellQuoted) \(results.shellQuoted) \(attachments.shellQuoted)
                \(keepsDerivedData ? beginning : "mkdir -p build")
                status=0
                \(command.with("test").line) || status=$?
                if [ -d \(bundle.shellQuoted) ]; then
                    \(read.line) > \(results.shellQuoted)
                    \(copy.line) || true
                fi
                \(keepsDerivedData ? "\(ending)\n" : "")exit "$status"
                """
        )
        .testResults(.file(results)).artifacts("\(attachments)/**").timeout(.minutes(45))
        return warm(destination.resource.map { step.uses($0) } ?? step)
    }

    /// Builds the app for release, signed, as an archive.
    ///
    /// The settings `MARKETING_VERSION` and `CURRENT_PROJECT_VERSION` are the release's marketing version and build number,
    /// as in 1.4 and 812 for `.counted("1.4")`, where the workflow has a ``Release``. So the app's Info.plist should take
    /// them from there, as Xcode's own do.
    public func archive(
        _ name: String = "archive", on destination: XcodeDestination = .anyDevice, configuration: String = "Release",
        signing: XcodeSigning, needs: Step...
    ) -> Step {
        let command = xcodebuild().with("-configuration", configuration).with("-destination", destination.text)
            .with("-archivePath", Self.archive).with(signing.arguments).with("archive")
        let versions = """
            set --
            if [ -n "${PIPECTL_MARKETING_VERSION:-}" ]; then
                set -- "MARKETING_VERSION=$PIPECTL_MARKETING_VERSION" "CURRENT_PROJECT_VERSION=$PIPECTL_BUILD_NUMBER"
            fi
            """
        return signing.step(
            name, needs: needs, identities: signing.identities,
            "rm -rf \(Self.archive)\n\(versions)\n\(command.line) \"$@\"")
    }

    /// Makes the file that is delivered of the archive, and packs its dSYMs.
    ///
    /// They are artifacts below `build/export`: an `.ipa` or `.pkg`, and `APP.dSYMs.zip`.
    public func export(
        _ options: ExportOptions, _ name: String = "export", signing: XcodeSigning, needs: Step...
    ) -> Step {
        let command = XcodeCommand(
            "xcodebuild", "-exportArchive", "-archivePath", Self.archive, "-exportPath", Self.export,
            "-exportOptionsPlist", "build/ExportOptions.plist"
        ).with(signing.arguments)
        let symbols = "\(Self.archive)/dSYMs"
        let pack = XcodeCommand(
            "ditto", "-c", "-k", "--keepParent", symbols, "\(Self.export)/\(scheme.fileName).dSYMs.zip")
        return signing.step(
            name, needs: needs, identities: signing.identities(for: options),
            """
            rm -rf \(Self.export)
            printf '%s' \(options.plist.shellQuoted) > build/ExportOptions.plist
            \(command.line)
            if [ -d \(symbols) ]; then \(pack.line); fi
            """
        )
        .artifacts("\(Self.export)/*.ipa", "\(Self.export)/*.pkg", "\(Self.export)/*.dSYMs.zip")
    }

    private func xcodebuild() -> XcodeCommand {
        XcodeCommand("xcodebuild").with(container.map { .text($0) }).with("-scheme", scheme)
            .with("-derivedDataPath", Self.derivedData)
    }
}

extension String {
    /// The text as a file's name.
    fileprivate var fileName: String {
        let name = String(map { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_") ? $0 : "-" })
        return name.isEmpty ? "xcode" : name
    }
}
