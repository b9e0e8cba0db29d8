import ForeignText
import Results

/// What a format wants of a JSON value.
enum JSONWish {
    /// Read it as a whole.
    case take
    /// Visit its members one by one.
    case enter
    /// Skip it.
    case skip
}

/// Reads a format that is one JSON document. Only the chosen values are in memory at a time.
protocol JSONReading: ResultReading {
    var collector: ResultCollector { get set }

    /// Whether the document is a list of objects, not an object.
    static var isList: Bool { get }

    /// What the format wants of the value at `path`: see ``JSONWalk``.
    func wish(at path: String) -> JSONWish

    /// Takes a value for which ``wish(at:)`` was `take`.
    mutating func take(_ value: JSONValue, at path: String)

    /// Called at the end of an object or array that was entered.
    mutating func leave(_ path: String)

    /// Called at the end of the file.
    mutating func finish()
}

extension JSONReading {
    static var isList: Bool { false }

    mutating func leave(_ path: String) {}

    mutating func finish() {}

    mutating func read(_ source: ByteSource) -> TestResults {
        let limits = collector.limits
        var walk = JSONWalk(JSONTokenizer(source, valueLimit: limits.fieldBytes, depth: limits.depth))
        // npm and others print lines before and after it. Two test runs may have been written into one file.
        walk.skip(toList: Self.isList)
        reading: while !collector.isFull {
            switch walk.next() {
            case .value(let path, let token):
                var isWhole = true
                switch wish(at: path) {
                case .take:
                    if let value = walk.take(token) { take(value, at: path) } else { isWhole = false }
                case .skip: isWhole = walk.skip(token)
                case .enter: break
                }
                if !isWhole {
                    collector.sayBroken("ends in the middle of a value", line: walk.tokens.source.line)
                    break reading
                }
            case .leave(let path):
                leave(path)
                if path.isEmpty { walk.skip(toList: Self.isList) }
            case .finished: break reading
            case .broken(let what):
                collector.sayBroken(what, line: walk.tokens.source.line)
                break reading
            }
        }
        finish()
        return collector.finished()
    }
}

/// Reads a format that has one JSON value per line.
protocol JSONLineReading: ResultReading {
    var collector: ResultCollector { get set }

    /// Takes the value of one line.
    mutating func take(_ value: JSONValue)

    /// Takes a line that is not JSON: another program printed it into the same file.
    mutating func takeOther(_ line: String)

    /// Called at the end of the file.
    mutating func finish()
}

extension JSONLineReading {
    mutating func takeOther(_ line: String) {}

    mutating func read(_ source: ByteSource) -> TestResults {
        let limits = collector.limits
        let lineLimit = 4 << 20
        var source = source
        while !collector.isFull {
            let number = source.line
            guard let (bytes, length) = source.nextLine(limit: lineLimit) else { break }
            guard let first = bytes.first(where: { !$0.isXMLSpace }) else { continue }
            guard first == UInt8(ascii: "{") || first == UInt8(ascii: "["), length <= lineLimit else {
                takeOther(String(cleaning: bytes.prefix(limits.fieldBytes)))
                continue
            }
            var isFirst = true
            let line = ByteSource {
                defer { isFirst = false }
                return isFirst ? bytes : []
            }
            var walk = JSONWalk(JSONTokenizer(line, valueLimit: limits.fieldBytes, depth: limits.depth))
            if case .value(_, let token) = walk.next(), let value = walk.take(token) {
                take(value)
            } else {
                collector.say(
                    "has a line that is not JSON, line \(number): it was skipped", key: "broken", line: number,
                    suggestion: "The test process was probably stopped: check the end of the step's log.")
            }
        }
        finish()
        return collector.finished()
    }
}
