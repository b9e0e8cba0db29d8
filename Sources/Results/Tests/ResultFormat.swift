/// A format that test results are read from, by name; open, so that a new one is one new file.
public struct ResultFormat: RawRepresentable, Sendable, Hashable, Codable {
    public let rawValue: String

    public init(rawValue: String) { self.rawValue = rawValue }

    /// JUnit XML, in any of its dialects.
    public static let junit = ResultFormat(rawValue: "junit")

    /// Swift Testing's event stream: JSON lines, `swift test --event-stream-output-path`.
    public static let swiftTestingEvents = ResultFormat(rawValue: "swiftTestingEvents")

    /// What `swift test` prints, XCTest and Swift Testing alike.
    public static let swiftpmConsole = ResultFormat(rawValue: "swiftpmConsole")
}
