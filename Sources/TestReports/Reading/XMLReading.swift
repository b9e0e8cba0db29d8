import ForeignText
import Results

/// Reads a format that is XML, from the tokens of ``XMLTokenizer``.
protocol XMLReading: ResultReading {
    var collector: ResultCollector { get set }

    /// Whether the format needs the text in this element. It is kept up to the limit of a field.
    static func wantsText(of element: String) -> Bool

    /// Called when an element begins. `path` has the names of all open elements, its own last.
    mutating func begin(_ path: [String], _ attributes: XMLAttributes)

    /// Called when an element ends. `path` has its own name last. `text` is empty unless the format wants it.
    mutating func end(_ path: [String], text: String)

    /// Called at the end of the file.
    mutating func finish()
}

extension XMLReading {
    mutating func finish() {}

    mutating func read(_ source: ByteSource) -> TestResults {
        let limits = collector.limits
        var tokens = XMLTokenizer(source, valueLimit: limits.fieldBytes)
        var path: [String] = []
        var texts: [BoundedText?] = []
        var tooDeep = 0
        reading: while !collector.isFull {
            switch tokens.next() {
            case .start(let name, let attributes, let isEmpty):
                guard tooDeep == 0, path.count < limits.depth else {
                    if !isEmpty { tooDeep += 1 }
                    collector.say(
                        "nests more than \(limits.depth) elements: deeper elements were skipped", key: "depth",
                        line: tokens.source.line, suggestion: "Check what wrote it; no known test tool nests that deep."
                    )
                    continue
                }
                path.append(name)
                begin(path, attributes)
                if isEmpty {
                    end(path, text: "")
                    path.removeLast()
                } else {
                    texts.append(Self.wantsText(of: name) ? BoundedText(limit: limits.fieldBytes) : nil)
                }
            case .end(let name):
                if tooDeep > 0 {
                    tooDeep -= 1
                    continue
                }
                guard path.last == name else {
                    collector.sayBroken("has </\(name.prefix(bytes: 64))> out of place", line: tokens.source.line)
                    break reading
                }
                end(path, text: texts.removeLast()?.string ?? "")
                path.removeLast()
            case .text(let bytes):
                if tooDeep == 0, !texts.isEmpty { texts[texts.count - 1]?.append(bytes) }
            case .finished:
                if let last = path.last { collector.sayBroken("ends inside <\(last)>", line: tokens.source.line) }
                break reading
            case .broken(let what):
                collector.sayBroken(what, line: tokens.source.line)
                break reading
            case .refused:
                collector.sayRefused(line: tokens.source.line)
                break reading
            }
        }
        finish()
        return collector.finished()
    }
}

extension ResultCollector {
    /// Adds a finding that the file is not well-formed from `line` on.
    mutating func sayBroken(_ what: String, line: Int) {
        say(
            "\(what), at line \(line); the results before that line are in this report", key: "broken", line: line,
            severity: .error,
            suggestion:
                "Its writer was probably stopped: check the end of the step's log, then run the step again."
        )
    }

    /// Adds a finding that the file declares entities.
    mutating func sayRefused(line: Int) {
        say(
            "has a document type that declares entities, which no test report needs: it was not read further",
            line: line, severity: .error,
            suggestion: "Let the test tool write plain XML, without <!DOCTYPE … <!ENTITY …>>.")
    }
}
