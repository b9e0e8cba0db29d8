/// One line of Swift Testing's event stream, with the keys that are used here.
///
/// Source: swift-testing, `Documentation/ABI/JSON.md`. Keys that start with `_` exist in version 0 only and may be
/// absent.
struct EventRecord: Decodable {
    var kind: String
    var payload: Payload

    struct Payload: Decodable {
        var kind: String
        // kind "test"
        var id: String?
        var name: String?
        var sourceLocation: Location?
        // kind "event"
        var testID: String?
        var instant: Instant?
        var issue: Issue?
        var messages: [Message]?
        var _testCase: TestCase?
        var _comments: [String]?
    }

    struct Location: Decodable {
        var fileID: String?
        var filePath: String?
        var _filePath: String?
        var line: Int?
        var column: Int?

        /// The path if the stream has it, otherwise `Module/File.swift`.
        var path: String? { filePath ?? _filePath ?? fileID }
    }

    struct Instant: Decodable {
        var absolute: Double?
        var since1970: Double?
    }

    struct Issue: Decodable {
        var isKnown: Bool?
        var isFailure: Bool?
        var severity: String?
        var sourceLocation: Location?

        var fails: Bool { isKnown != true && (isFailure ?? (severity != "warning")) }
    }

    struct Message: Decodable {
        var symbol: String?
        var text: String?
    }

    struct TestCase: Decodable {
        var displayName: String?
    }
}
