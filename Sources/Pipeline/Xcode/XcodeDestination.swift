/// Where Xcode's tests run, or what an archive is for. `xcodebuild -showdestinations` lists what there is.
public struct XcodeDestination: Sendable, Equatable {
    /// What `-destination` takes.
    public var text: String
    /// What a test there holds while it runs.
    public var resource: Resource?

    /// A destination in `xcodebuild`'s own words, as in `platform=iOS,name=Ada's iPhone`.
    public init(_ text: String, uses resource: Resource? = nil) {
        self.text = text
        self.resource = resource
    }

    /// The simulators of the build box. `pipectl watch --resource simulator=2` lets two tests run at the same time.
    public static let simulators = Resource("simulator", capacity: 1)

    /// A simulator, by its name.
    ///
    /// - Parameters:
    ///   - name: As in `iPhone 17`.
    ///   - os: As in `26.0`; nil: the newest that is installed.
    ///   - platform: As in `iOS Simulator`.
    ///   - resource: What the test holds while it runs.
    public static func simulator(
        _ name: String, os: String? = nil, platform: String = "iOS Simulator", uses resource: Resource = simulators
    ) -> XcodeDestination {
        XcodeDestination(
            "platform=\(platform),name=\(name)" + (os.map { ",OS=\($0)" } ?? ""), uses: resource)
    }

    /// This Mac.
    public static let mac = XcodeDestination("platform=macOS")
    /// Any iPhone and iPad: for archives.
    public static let anyDevice = XcodeDestination("generic/platform=iOS")
    /// Any Mac: for archives.
    public static let anyMac = XcodeDestination("generic/platform=macOS")
}
