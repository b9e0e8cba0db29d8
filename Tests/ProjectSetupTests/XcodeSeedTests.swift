import Foundation
import TestBasics
import Testing

@testable import ProjectSetup

/// Which system an app is for, as its project says.
@Suite struct XcodeSeedTests {
    private static func target(_ bundle: String, _ settings: String) -> String {
        "\t\tbuildSettings = {\n\t\t\t\(settings)\n\t\t\tPRODUCT_BUNDLE_IDENTIFIER = \(bundle);\n\t\t};\n"
    }
    private static let tested = "<TestableReference/>"
    private static let app = #"<BuildableReference BlueprintIdentifier = "T1" BuildableName = "App.app">"#

    /// The seed of `App.xcodeproj`.
    private static func seed(
        in room: TemporaryFolder, _ folder: String = "", schemes: [XcodeScheme] = [XcodeScheme("App", text: tested)]
    ) throws -> XcodeSeed {
        let choice = try #require(XcodeSchemeChoice(among: schemes, project: "App"))
        return XcodeSeed(SeedFolder(top: room.path, path: folder), container: "App.xcodeproj", schemes: choice)
    }

    private static func release(_ seed: XcodeSeed) -> String {
        seed.release(into: "\"main\"", variable: "release", name: "release")
    }
    private static func test(_ seed: XcodeSeed) -> String {
        seed.test(into: "\"main\"", variable: "test", name: "test")
    }

    private static let multiplatform =
        #"SDKROOT = auto; SUPPORTED_PLATFORMS = "iphoneos iphonesimulator macosx"; CODE_SIGN_STYLE = "${STYLE}";"#

    @Test(arguments: [
        (target("com.example.app", "SDKROOT = iphoneos;"), true),
        (target("com.example.app", multiplatform), true),
        (target("com.example.app", "SDKROOT = auto; SUPPORTED_PLATFORMS = macosx;"), false),
        ("SDKROOT = iphoneos;\n" + target("com.example.app", ""), true),
        ("SDKROOT = macosx;\n" + target("com.example.app", ""), false),
        // A framework for more systems than the app.
        ("SDKROOT = macosx;\n" + target("com.example.app.kit", multiplatform) + target("com.example.app", ""), false),
        (target("com.example.app.tests", "SDKROOT = macosx;") + target("com.example.app", multiplatform), true),
        ("", false),
    ])
    func `an app is for iPhones if its target is`(settings: String, isForPhones: Bool) throws {
        let room = try TemporaryFolder()
        _ = try room.write("App.xcodeproj/project.pbxproj", settings.utf8)
        let seed = try Self.seed(in: room)
        #expect(seed.isForPhones == isForPhones)
        #expect(Self.release(seed).contains(isForPhones ? "\"IOS\"" : "\"MAC_OS\""))
    }

    private static let workspace = """
        <?xml version="1.0" encoding="UTF-8"?>
        <Workspace version = "1.0">
           <Group
              location = "group:apps"
              name = "Apps">
              <Group location = "group:phone"><FileRef location = "group:App.xcodeproj"></FileRef></Group>
              <FileRef
                 location = "container:mac/Other.xcodeproj">
              </FileRef>
           </Group>
           <FileRef location = "group:Pods/Pods.xcodeproj"></FileRef>
           <FileRef location = "group:../outside/Out.xcodeproj"></FileRef>
           <FileRef location = "absolute:/srv/Far.xcodeproj"></FileRef>
           <FileRef location = "group:Package"></FileRef>
        </Workspace>
        """

    @Test func `a workspace's projects are those that it names within the repository`() {
        #expect(XcodeProjects.named(in: Self.workspace) == ["apps/phone/App.xcodeproj", "mac/Other.xcodeproj"])
        #expect(XcodeProjects.named(in: "<<<Group </Group></Group>") == [])
    }

    @Test func `the app of a workspace is found in a subfolder, with its scheme`() throws {
        let room = try TemporaryFolder()
        _ = try room.write("All.xcworkspace/contents.xcworkspacedata", Self.workspace.utf8)
        _ = try room.write(
            "apps/phone/App.xcodeproj/project.pbxproj",
            "DEVELOPMENT_TEAM = ABCDE12345;\n\(Self.target("org.demo.app", Self.multiplatform))".utf8)
        _ = try room.write("Pods/Pods.xcodeproj/project.pbxproj", Self.target("org.p", "SDKROOT = macosx;").utf8)
        _ = try room.write(
            "apps/phone/App.xcodeproj/xcshareddata/xcschemes/App.xcscheme", "<TestableReference/>".utf8)
        guard case .recipe(let recipe)? = XcodeRecipe(folder: SeedFolder(top: room.path)).find() else {
            Issue.record("no recipe")
            return
        }
        #expect(recipe.xcode?.isForPhones == true)
        #expect(recipe.xcode?.bundle == "org.demo.app" && recipe.xcode?.team == "ABCDE12345")
        #expect(recipe.xcode?.container == "All.xcworkspace" && recipe.xcode?.schemes.app.name == "App")
    }

    // MARK: The version

    private static let tests =
        "\t\tbuildSettings = {\n\t\t\tMARKETING_VERSION = 1.0;\n\t\t\t"
        + "PRODUCT_BUNDLE_IDENTIFIER = com.example.app.tests;\n\t\t};\n"

    @Test(arguments: [
        ("MARKETING_VERSION = 2.3.1;", "2.3.1"),
        (target("com.example.app", "MARKETING_VERSION = 2.3;") + tests, "2.3"),
        (tests + "MARKETING_VERSION = 7;" + target("com.example.app", ""), "7"),
        (target("com.example.app", #"MARKETING_VERSION = "$(VERSION)";"#) + tests, nil),
        (target("com.example.app", "MARKETING_VERSION = 2.3.1.4;"), nil),
        (target("com.example.app", "") + tests, nil), ("", nil),
    ])
    func `the version is that of the app's target`(settings: String, version: String?) throws {
        let room = try TemporaryFolder()
        _ = try room.write("App.xcodeproj/project.pbxproj", settings.utf8)
        let seed = try Self.seed(in: room)
        #expect(seed.version == version)
        let text = Self.release(seed)
        #expect(text.contains(".counted(\"\(version ?? "1.0")\")"))
        #expect(text.contains("MARKETING_VERSION could not be read") == (version == nil))
    }

    /// Two apps, as Xcode writes them.
    private static let twoApps = """
        // !$*UTF8*$!
        {
        \t\tT0 /* Lite */ = {
        \t\t\tisa = PBXNativeTarget;
        \t\t\tbuildConfigurationList = L0 /* Build configuration list */;
        \t\t};
        \t\tT1 /* App */ = {
        \t\t\tisa = PBXNativeTarget;
        \t\t\tbuildConfigurationList = L1 /* Build configuration list */;
        \t\t};
        \t\tC0 /* Release */ = {
        \t\t\tbuildSettings = {
        \t\t\t\tMARKETING_VERSION = 1.1;
        \t\t\t\tPRODUCT_BUNDLE_IDENTIFIER = org.lite;
        \t\t\t};
        \t\t\tname = Release;
        \t\t};
        \t\tC1 /* Release */ = {
        \t\t\tbuildSettings = {
        \t\t\t\tDEVELOPMENT_TEAM = ABCDE12345;
        \t\t\t\tMARKETING_VERSION = 2.3.1;
        \t\t\t\tPRODUCT_BUNDLE_IDENTIFIER = org.demo.app;
        \t\t\t};
        \t\t\tname = Release;
        \t\t};
        \t\tC2 /* Debug */ = {
        \t\t\tbuildSettings = {
        \t\t\t\tMARKETING_VERSION = 9.9;
        \t\t\t\tPRODUCT_BUNDLE_IDENTIFIER = org.demo.app.debug;
        \t\t\t};
        \t\t\tname = Debug;
        \t\t};
        \t\tL0 /* Build configuration list */ = {
        \t\t\tbuildConfigurations = (
        \t\t\t\tC0 /* Release */,
        \t\t\t);
        \t\t};
        \t\tL1 /* Build configuration list */ = {
        \t\t\tbuildConfigurations = (
        \t\t\t\tC1 /* Release */,
        \t\t\t\tC2 /* Debug */,
        \t\t\t);
        \t\t};
        }
        """

    @Test func `of several apps, the settings are those of the scheme's`() throws {
        let room = try TemporaryFolder()
        _ = try room.write("App.xcodeproj/project.pbxproj", Self.twoApps.utf8)
        let seed = try Self.seed(in: room, schemes: [XcodeScheme("App", text: Self.app + Self.tested)])
        #expect(seed.version == "2.3.1" && seed.bundle == "org.demo.app" && seed.team == "ABCDE12345")
        #expect(seed.placeholders == ["KEY_ID", "ISSUER_ID"])
        #expect(try Self.seed(in: room).bundle == "org.lite", "a scheme that names no target")
    }

    @Test func `an identifier that is made of a setting is never that of another target`() throws {
        let room = try TemporaryFolder()
        let settings = Self.twoApps.replacing(" org.demo.app;", with: " \"$(APP_ID)\";")
        _ = try room.write("App.xcodeproj/project.pbxproj", settings.utf8)
        let seed = try Self.seed(in: room, schemes: [XcodeScheme("App", text: Self.app + Self.tested)])
        #expect(seed.bundle == nil && seed.placeholders.contains("BUNDLE_ID"))
    }

    // MARK: Schemes

    private static func scheme(_ name: String, app: Bool, tests: Bool) -> XcodeScheme {
        XcodeScheme(name, text: (app ? Self.app : "") + (tests ? Self.tested : ""))
    }

    @Test(arguments: [
        ([scheme("App", app: true, tests: true), scheme("AppPro", app: true, tests: true)], "App", "App", ["AppPro"]),
        ([scheme("A", app: true, tests: true), scheme("App", app: true, tests: false)], "A", "A", ["App"]),
        ([scheme("App", app: true, tests: false), scheme("Kit", app: false, tests: true)], "App", "Kit", []),
        ([scheme("App", app: true, tests: false), scheme("Other", app: false, tests: false)], "App", nil, []),
        ([scheme("Kit", app: false, tests: true)], "Kit", "Kit", []),
        ([scheme("B", app: false, tests: false), scheme("App", app: false, tests: false)], "App", nil, []),
    ])
    func `an app is archived, what has tests is tested, and the rest is named`(
        schemes: [XcodeScheme], app: String, tested: String?, others: [String]
    ) throws {
        let choice = try #require(XcodeSchemeChoice(among: schemes, project: "App"))
        #expect(choice.app.name == app && choice.tested?.name == tested && choice.others == others)
        let seed = try Self.seed(in: try TemporaryFolder(), schemes: schemes)
        for other in others {
            #expect(seed.notes.contains { $0.contains(other) })
            #expect(Self.test(seed).contains("\"\(other)\""))
        }
        #expect(Self.release(seed).contains("let test = ") == (tested != nil))
        #expect(Self.test(seed).contains("Step(") == (tested == nil))
        #expect(seed.notes.isEmpty == (others.isEmpty && tested == app))
    }

    @Test func `the name of a scheme ends no comment`() throws {
        let schemes = [
            Self.scheme("App", app: true, tests: true), Self.scheme("A\nfatalError()", app: true, tests: true),
        ]
        let seed = try Self.seed(in: try TemporaryFolder(), schemes: schemes)
        #expect(!Self.test(seed).contains("\nfatalError()"))
    }

    // MARK: What must be made first

    @Test(arguments: [
        (["Podfile": ""], ["pods": "LANG=en_US.UTF-8 pod install"]),
        (["Podfile": "", "Gemfile": "gem 'fastlane'"], ["pods": "LANG=en_US.UTF-8 pod install"]),
        (
            ["Podfile": "", "Gemfile": "gem 'cocoapods'"],
            [
                "pods": "export LANG=en_US.UTF-8 BUNDLE_PATH=vendor/bundle && bundle install && bundle exec pod install"
            ]
        ),
        (["Cartfile": ""], [:]), (["Gemfile": "gem 'cocoapods'"], [:]),
    ])
    func `pods are installed before packages are fetched`(files: [String: String], steps: [String: String]) throws {
        let room = try TemporaryFolder()
        for (name, text) in files { _ = try room.write(name, text.utf8) }
        let seed = try Self.seed(in: room)
        let made = seed.preparation.parts.map(\.step)
        #expect(made.map(\.name) == steps.keys.sorted() && made.map(\.command) == steps.values.sorted())
        #expect(!made.contains { !$0.isOnline })
        #expect(seed.notes.isEmpty == (files["Cartfile"] == nil))
        for text in [Self.test(seed), Self.release(seed)] {
            #expect(text.contains("app.resolve(needs: pods)") == !steps.isEmpty)
        }
    }

    @Test func `pods that are in the repository are not installed`() async throws {
        let room = try TemporaryFolder()
        let repository = try await TestRepository.make(at: room["it"])
        try repository.write(["ios/Podfile": "", "ios/Pods/Manifest.lock": "", "ios/App.xcodeproj/a": ""])
        let folder = SeedFolder(top: room["it"], path: "ios")
        #expect(XcodePreparation(folder).parts.map(\.step.name) == ["pods"])
        _ = try await repository.git("add", ".")
        #expect(XcodePreparation(folder).parts.isEmpty)
    }

    @Test func `a workspace that pod install makes is used before it exists`() throws {
        let room = try TemporaryFolder()
        _ = try room.write("Podfile", "".utf8)
        _ = try room.write("App.xcodeproj/xcshareddata/xcschemes/App.xcscheme", Self.tested.utf8)
        let recipe = XcodeRecipe(folder: SeedFolder(top: room.path)).find()?.recipe
        #expect(recipe?.xcode?.container == "App.xcworkspace")
        #expect(recipe?.steps.map(\.name) == ["pods", "resolve", "unit tests"])
    }

    @Test func `an app of Flutter is configured first, with the version of its pubspec`() throws {
        let room = try TemporaryFolder()
        _ = try room.write(
            "pubspec.yaml", "name: a\nversion: 3.2.1+7\ndependencies:\n  flutter:\n    sdk: flutter\n".utf8)
        _ = try room.write("test/a_test.dart", "".utf8)
        _ = try room.write("ios/Podfile", "".utf8)
        let seed = try Self.seed(in: room, "ios")
        #expect(seed.preparation.framework == .flutter && seed.version == "3.2.1")
        #expect(seed.preparation.parts.map(\.step.name) == ["flutter", "pods"])
        #expect(seed.preparation.parts.map(\.folder) == ["", "ios"])
        #expect(seed.preparation.parts[1].step.needs == ["flutter"])
        #expect(Self.test(seed).contains("\"ios/App.xcodeproj\"") && Self.test(seed).contains("flutter test"))
        #expect(Self.release(seed).contains("--build-number") && !Self.test(seed).contains("--build-number"))
    }

    @Test(arguments: [
        (["package.json": #"{"dependencies": {"react-native": "1"}}"#, "yarn.lock": ""], ["npm"]),
        (["package.json": #"{"dependencies": {"react": "1"}}"#], []),
        (["pubspec.yaml": "name: a"], []),
    ])
    func `only an app of React Native needs its packages`(files: [String: String], steps: [String]) throws {
        let room = try TemporaryFolder()
        for (name, text) in files { _ = try room.write(name, text.utf8) }
        let parts = XcodePreparation(SeedFolder(top: room.path, path: "ios")).parts
        #expect(parts.map(\.step.name) == steps)
        #expect(XcodePreparation(SeedFolder(top: room.path)).parts.isEmpty, "the project is not below it")
        if let part = parts.first { #expect(part.program == "yarn" && part.folder == "") }
    }
}
