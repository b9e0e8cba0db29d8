import TestBasics
import Testing

@testable import ProjectSetup

/// Which system an app is for, as its project says.
@Suite struct XcodeSeedTests {
    private static func target(_ bundle: String, _ settings: String) -> String {
        "\t\tbuildSettings = {\n\t\t\t\(settings)\n\t\t\tPRODUCT_BUNDLE_IDENTIFIER = \(bundle);\n\t\t};\n"
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
        let seed = XcodeSeed(SeedFolder(top: room.path), container: "App.xcodeproj", scheme: "App")
        #expect(seed.isForPhones == isForPhones)
        #expect(seed.release(into: "main").contains(isForPhones ? "\"IOS\"" : "\"MAC_OS\""))
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
        #expect(recipe.xcode?.container.path == "All.xcworkspace" && recipe.xcode?.scheme == "App")
    }
}
