package import Pipeline
package import Results

/// A line that a change adds.
package struct AddedLine: Sendable, Equatable {
    /// Below the root of the repository.
    package var file: String
    /// In the changed file, from 1.
    package var line: Int
    package var text: String

    package init(file: String, line: Int, text: String) {
        self.file = file
        self.line = line
        self.text = text
    }
}

/// Holds the lines that a change adds against the rules of the repository.
package struct RuleCheck: Sendable {
    /// The rule of a finding: a line breaks a rule of the repository.
    package static let broken = Report.brokenRule
    /// The rule of a finding: whether a rule is broken is not known. It counts like a broken one, since nothing is
    /// concluded from absence.
    package static let unchecked = "unchecked-rule"

    /// The most findings of one check, and of one rule in one file.
    package static let most = 100
    private static let mostInFile = 10
    /// Visits of a pattern's instructions for one check: some seconds, and enough for millions of lines.
    package static let work = 400_000_000

    private let rules: [Compiled]
    private let unusable: [Finding]

    private struct Compiled: Sendable {
        let rule: Rule
        let pattern: LinePattern
        let files: [Glob]
        let except: [Glob]
        /// `AGENTS.md:12`, and what that line says.
        var place: String?
        var words: String?

        init?(_ rule: Rule) {
            guard rule.problems.isEmpty, let pattern = try? LinePattern(rule.pattern) else { return nil }
            self.rule = rule
            self.pattern = pattern
            files = rule.files.compactMap { try? Glob($0) }
            except = rule.except.compactMap { try? Glob($0) }
        }

        func isFor(_ file: String) -> Bool {
            (files.isEmpty || files.contains { $0.matches(file) }) && !except.contains { $0.matches(file) }
        }

        func finding(_ line: AddedLine) -> Finding {
            let cited = place.map { " (\($0))" } ?? ""
            return Finding(
                rule: RuleCheck.broken, severity: .error, message: "it breaks the rule \"\(rule.text)\"\(cited)",
                file: line.file, line: line.line,
                suggestion: words.map { "\(place ?? "") says: \($0)" } ?? "the line must not match \(rule.pattern)",
                excerpt: String(line.text.prefix(300))
            ).bounded
        }
    }

    /// - Parameters:
    ///   - rules: The rules of the target's definition.
    ///   - says: The content of a file that states rules, as the target has it; nil: there is none. It is called once
    ///     for each file.
    package init(_ rules: [Rule], says: (_ path: String) throws -> String?) rethrows {
        var texts: [String: String] = [:]
        for path in Set(rules.compactMap(\.source)) { texts[path] = try says(path) }
        var compiled: [Compiled] = []
        var unusable: [Finding] = []
        for rule in rules {
            guard var one = Compiled(rule) else {
                unusable.append(
                    Self.unchecked(
                        rule.problems.first ?? "a rule can't be used", "correct it in workflows/ of the target"))
                continue
            }
            if let source = rule.source {
                let cited = texts[source].flatMap(rule.citation)
                one.place = cited.map { "\(source):\($0.line)" } ?? source
                one.words = cited.map { $0.text.drop { " \t-*".contains($0) } }.map { String($0.prefix(300)) }
            }
            compiled.append(one)
        }
        self.rules = compiled
        self.unusable = unusable
    }

    /// Whether a rule says something about the file.
    package func reads(_ file: String) -> Bool { rules.contains { $0.isFor(file) } }

    /// Whether a rule says something about the file that none says about `before`, its earlier path.
    package func isStricter(for file: String, than before: String) -> Bool {
        rules.contains { $0.isFor(file) && !$0.isFor(before) }
    }

    /// What was read of a change.
    package struct Reading: Sendable {
        fileprivate var findings: [Finding] = []
        fileprivate var counts: [String: Int] = [:]
        fileprivate var leftOut = 0
        fileprivate var left: Int
        /// The file of the last line, and the rules that are for it.
        fileprivate var file: String?
        fileprivate var rules: [Int] = []

        /// - Parameter work: Visits of patterns' instructions.
        package init(work: Int = RuleCheck.work) { left = work }

        /// Whether more lines can't be read.
        package var isOver: Bool { left < 0 }

        /// Notes that the lines of a file are not known.
        package mutating func skip(_ file: String) {
            findings.append(
                RuleCheck.unchecked(
                    "the file is too large for the rules of the repository to be checked in it", file: file,
                    "split it, or exclude it from the rules (except:)"))
        }
    }

    /// Reads one more line of a change.
    package func read(_ line: AddedLine, _ reading: inout Reading) {
        guard !reading.isOver else { return }
        if reading.file != line.file {
            (reading.file, reading.rules) = (line.file, rules.indices.filter { rules[$0].isFor(line.file) })
        }
        for number in reading.rules {
            let isBroken = rules[number].pattern.matches(line.text, work: &reading.left)
            guard !reading.isOver else {
                reading.findings.append(
                    Self.unchecked(
                        "the change adds so many lines that the rules of the repository could not be checked in all of them",
                        file: line.file, "split the change, or exclude generated files from the rules (except:)"))
                return
            }
            guard isBroken else { continue }
            let key = "\(number) \(line.file)"
            reading.counts[key, default: 0] += 1
            guard reading.counts[key, default: 0] <= Self.mostInFile, reading.findings.count < Self.most else {
                reading.leftOut += 1
                continue
            }
            reading.findings.append(rules[number].finding(line))
        }
    }

    /// A finding for each line that breaks a rule, in the order of the lines.
    package func findings(of reading: Reading) -> [Finding] {
        guard reading.leftOut > 0 else { return unusable + reading.findings }
        let more = Finding(
            rule: Self.broken, severity: .error,
            message: "\(reading.leftOut) more added lines break rules of the repository")
        return unusable + reading.findings + [more]
    }

    /// The same for lines that are at hand.
    package func findings(in lines: some Sequence<AddedLine>, work: Int = work) -> [Finding] {
        var reading = Reading(work: work)
        for line in lines { read(line, &reading) }
        return findings(of: reading)
    }

    /// A finding that a rule could not be checked.
    package static func unchecked(_ message: String, file: String? = nil, _ suggestion: String) -> Finding {
        Finding(rule: unchecked, severity: .error, message: message, file: file, suggestion: suggestion)
    }
}
