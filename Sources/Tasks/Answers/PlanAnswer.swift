import ForeignText
import Foundation
package import Results

/// Reads an agent's answer to the planning prompt.
///
/// The answer is one JSON object. Text around it, such as a code fence or the banner of a program, is skipped, but two
/// plans in one answer are refused: nobody can tell which one is meant.
package enum PlanAnswer {
    /// The longest answer that is read, in bytes.
    package static let bytes = 256 << 10

    /// What an agent is asked to answer.
    package static let form = """
        {"summary": "what will be done", "approach": "how", "files": ["Sources/App/Cart.swift"], \
        "tests": ["total of an empty cart is 0"], "tradeoffs": "what speaks against it"}
        """

    enum Limit {
        static let summary = 2_000
        static let text = 32 << 10
        static let files = 200
        static let path = 500
        static let tests = 100
        static let test = 1_000
        /// What is kept of one string: more than any may have, so that a longer one is noticed.
        static let value = 64 << 10
    }

    /// The plan in an answer.
    ///
    /// - Throws: ``PlanProblem``, whose sentence goes into the next prompt.
    package static func read(
        _ answer: some BidirectionalCollection<UInt8>, version: Int
    ) throws(PlanProblem) -> TaskPlan {
        // Some agents put their words into JSON of their own.
        if let words = AgentOutput(answer).words { return try read(words: Array(words.utf8), version: version) }
        return try read(words: answer, version: version)
    }

    private static func read(words answer: some Collection<UInt8>, version: Int) throws(PlanProblem) -> TaskPlan {
        guard answer.count <= bytes else {
            throw PlanProblem(
                .tooLong, "the answer has more than \(bytes >> 10) KiB; answer with the JSON object alone")
        }
        let text = Array(answer)
        guard String(validating: text, as: UTF8.self) != nil else {
            throw PlanProblem(.notText, "the answer is not UTF-8")
        }
        guard text.contains(where: { !" \n\r\t".utf8.contains($0) }) else {
            throw PlanProblem(.empty, "there was no answer; answer with the JSON object")
        }
        // What an agent says besides may have objects of its own.
        let objects = JSONObjects.beginningLines(of: text, valueBytes: Limit.value).filter { $0["summary"] != nil }
        var plans: [Draft] = []
        var problem: PlanProblem?
        for object in objects {
            do { plans.append(try Draft.read(object)) } catch { problem = problem ?? error }
        }
        // An agent that prints the same answer twice means one plan.
        guard let first = plans.first else {
            throw problem ?? PlanProblem(.noObject, "the answer has no JSON object; answer with \(form)")
        }
        guard plans.allSatisfy({ $0 == first }) else {
            throw PlanProblem(.several, "the answer has \(plans.count) plans; answer with one JSON object")
        }
        return try first.plan(version)
    }

    /// The object as it was written.
    private struct Draft: Equatable {
        var summary: String
        var approach: String
        var files: [String]
        var tests: [String]
        var tradeoffs: String

        static func read(_ object: JSONValue) throws(PlanProblem) -> Draft {
            Draft(
                summary: try text(object, "summary"), approach: try text(object, "approach"),
                files: try texts(object, "files"), tests: object["tests"] == nil ? [] : try texts(object, "tests"),
                tradeoffs: object["tradeoffs"] == nil ? "" : try text(object, "tradeoffs"))
        }

        private static func text(_ object: JSONValue, _ key: String) throws(PlanProblem) -> String {
            switch object[key] {
            case .string(let text): return text
            case nil: throw PlanProblem(.missing, "\"\(key)\" is missing; answer with \(form)")
            default: throw PlanProblem(.wrongType, "\"\(key)\" is no text; answer with \(form)")
            }
        }

        private static func texts(_ object: JSONValue, _ key: String) throws(PlanProblem) -> [String] {
            switch object[key] {
            case .array(let values):
                let texts = values.compactMap { if case .string(let text) = $0 { text } else { nil as String? } }
                guard texts.count == values.count else {
                    throw PlanProblem(.wrongType, "\"\(key)\" has something that is no text; answer with \(form)")
                }
                return texts
            case nil: throw PlanProblem(.missing, "\"\(key)\" is missing; answer with \(form)")
            default: throw PlanProblem(.wrongType, "\"\(key)\" is no list of texts; answer with \(form)")
            }
        }

        func plan(_ version: Int) throws(PlanProblem) -> TaskPlan {
            let plan = TaskPlan(
                version: version, summary: try checked(summary, "summary", Limit.summary, isNeeded: true),
                approach: try checked(approach, "approach", Limit.text, isNeeded: true), files: try checkedFiles(),
                tests: try checkedTests(), tradeoffs: try checked(tradeoffs, "tradeoffs", Limit.text))
            return plan
        }

        private func checkedFiles() throws(PlanProblem) -> [String] {
            guard !files.isEmpty else {
                throw PlanProblem(.noFiles, "\"files\" is empty; name each file that will be changed or added")
            }
            guard files.count <= Limit.files else {
                throw PlanProblem(
                    .tooMany, "\"files\" has \(files.count) entries; write at most \(Limit.files), or globs")
            }
            var known: Set<String> = []
            var checked: [String] = []
            for file in files {
                var path = try self.checked(file, "files", Limit.path, isNeeded: true, isOneLine: true)
                if path.hasPrefix("./") { path.removeFirst(2) }
                let parts = path.split(separator: "/", omittingEmptySubsequences: false)
                guard !path.hasPrefix("/"), !path.hasPrefix("~"), !parts.contains("..") else {
                    throw PlanProblem(
                        .badPath,
                        "\"\(path)\" is not a path below the root of the repository; write Sources/App/Cart.swift")
                }
                guard !PlanCoverage.Entry(path).isEverything else {
                    throw PlanProblem(.badPath, "\"\(path)\" names every file; name those that will be changed")
                }
                if known.insert(path).inserted { checked.append(path) }
            }
            return checked
        }

        private func checkedTests() throws(PlanProblem) -> [String] {
            guard tests.count <= Limit.tests else {
                throw PlanProblem(.tooMany, "\"tests\" has \(tests.count) entries; write at most \(Limit.tests)")
            }
            var checked: [String] = []
            for test in tests { checked.append(try self.checked(test, "tests", Limit.test, isNeeded: true)) }
            return checked
        }

        /// The text without white space around it.
        private func checked(
            _ text: String, _ key: String, _ limit: Int, isNeeded: Bool = false, isOneLine: Bool = false
        ) throws(PlanProblem) -> String {
            let trimmed = text.trimmingCharacters(in: .whitespacesAndNewlines)
            if isNeeded, trimmed.isEmpty { throw PlanProblem(.missing, "\"\(key)\" has an empty text") }
            guard trimmed.utf8.count <= limit else {
                throw PlanProblem(
                    .tooLong, "\"\(key)\" has a text of \(trimmed.utf8.count) bytes; write at most \(limit)")
            }
            guard trimmed.unicodeScalars.allSatisfy({ isPlain($0, isOneLine: isOneLine) }) else {
                throw PlanProblem(
                    .controlCharacters,
                    "\"\(key)\" has a control character, or one that hides or turns text; leave it out")
            }
            return trimmed
        }

        private func isPlain(_ scalar: Unicode.Scalar, isOneLine: Bool) -> Bool {
            switch scalar.properties.generalCategory {
            case .control: !isOneLine && (scalar == "\n" || scalar == "\t")
            // It joins the parts of an emoji.
            case .format: scalar == "\u{200D}" && !isOneLine
            case .surrogate, .privateUse, .lineSeparator, .paragraphSeparator: false
            default: true
            }
        }
    }
}

/// Why an answer is no plan.
package struct PlanProblem: Error, Sendable, Equatable, CustomStringConvertible {
    package enum Code: Sendable {
        case tooLong, notText, empty, noObject, several, missing, wrongType, noFiles, tooMany, badPath,
            controlCharacters
    }

    package var code: Code
    package var description: String

    init(_ code: Code, _ description: String) {
        self.code = code
        self.description = description
    }
}
