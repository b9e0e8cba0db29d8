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
        var tokens = XMLTokenizer(source, valueLimit: collector.limits.fieldBytes)
        var open = OpenElements()
        reading: while !collector.isFull {
            switch tokens.next() {
            case .start(let name, let attributes, let isEmpty):
                start(name, attributes, isEmpty: isEmpty, &open, line: tokens.source.line)
            case .end(let name):
                guard end(name, &open) else {
                    collector.sayBroken("has </\(name.prefix(bytes: 64))> out of place", line: tokens.source.line)
                    break reading
                }
            case .text(let bytes):
                if open.tooDeep == 0, !open.texts.isEmpty { open.texts[open.texts.count - 1]?.append(bytes) }
            case .finished:
                if let last = open.path.last { collector.sayBroken("ends inside <\(last)>", line: tokens.source.line) }
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

    private mutating func start(
        _ name: String, _ attributes: XMLAttributes, isEmpty: Bool, _ open: inout OpenElements, line: Int
    ) {
        let limits = collector.limits
        guard open.tooDeep == 0, open.path.count < limits.depth else {
            if !isEmpty { open.tooDeep += 1 }
            return collector.say(
                "nests more than \(limits.depth) elements: deeper elements were skipped", key: "depth", line: line,
                suggestion: "Check what wrote it; no known test tool nests that deep.")
        }
        open.path.append(name)
        begin(open.path, attributes)
        if isEmpty {
            end(open.path, text: "")
            open.path.removeLast()
        } else {
            open.texts.append(Self.wantsText(of: name) ? BoundedText(limit: limits.fieldBytes) : nil)
        }
    }

    /// Returns false if the element that ends is not the one that began last.
    private mutating func end(_ name: String, _ open: inout OpenElements) -> Bool {
        guard open.tooDeep == 0 else {
            open.tooDeep -= 1
            return true
        }
        guard open.path.last == name else { return false }
        end(open.path, text: open.texts.removeLast()?.string ?? "")
        open.path.removeLast()
        return true
    }
}

/// The elements that have begun and not ended.
private struct OpenElements {
    /// Their names, the outermost first.
    var path: [String] = []
    /// The text in each of them, where the format wants it.
    var texts: [BoundedText?] = []
    /// How many of them are nested too deep to be read.
    var tooDeep = 0
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
