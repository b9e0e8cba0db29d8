/// The formats test results are read from.
public enum ResultFormat: String, Sendable, Codable, CaseIterable {
    /// JUnit XML, in any of its dialects.
    case junit

    /// Swift Testing's event stream: JSON lines, `swift test --event-stream-output-path`.
    case swiftTestingEvents

    /// What `swift test` prints, XCTest and Swift Testing alike.
    case swiftpmConsole
}
