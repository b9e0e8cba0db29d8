/// The name of a format of test results. A raw value, so that a new format needs only one new file.
public struct ResultFormat: RawRepresentable, Sendable, Hashable, Codable {
    public let rawValue: String

    public init(rawValue: String) { self.rawValue = rawValue }

    /// JUnit XML, in any of its dialects.
    public static let junit = ResultFormat(rawValue: "junit")

    /// Swift Testing's event stream: JSON lines, `swift test --event-stream-output-path`.
    public static let swiftTestingEvents = ResultFormat(rawValue: "swiftTestingEvents")

    /// The output of `swift test`, of XCTest and of Swift Testing.
    public static let swiftpmConsole = ResultFormat(rawValue: "swiftpmConsole")
}
