import ForeignText
import Results

/// Reads Cucumber's JSON: `cucumber --format json --out FILE`, `cucumber-js --format json:FILE`.
///
/// A test is a scenario, or one row of its examples; its steps and hooks decide its result. Times are nanoseconds.
///
/// Sources: cucumber-ruby, `lib/cucumber/formatter/json.rb`; cucumber-js, `src/formatter/json_formatter.ts`;
/// cucumber-jvm, `JsonFormatter.java`.
struct CucumberReading: JSONReading {
    static let format = ResultFormat(rawValue: "cucumber")
    static let isList = true

    var collector: ResultCollector
    /// The scenarios of one feature. The feature's name may follow them.
    private var scenarios: [Scenario] = []
    private var keptBytes = 0
    private var feature: String?
    private var file: String?
    /// What is open.
    private var scenario: Scenario
    private var step = Step()
    private var hook = Step()
    /// The background that ran before the next scenario, of which it is a part.
    private var background: Scenario?
    private var sawScenario = false

    init(name: String, limits: TestResultLimits) {
        collector = ResultCollector(name: name, limits: limits)
        scenario = Scenario(limits)
    }

    static func recognises(_ start: FileStart) -> Bool {
        let keys = start.keys
        // behave's form is another one, whose times are seconds.
        guard !keys.contains("[].location") else { return false }
        return keys.contains("[].uri") && keys.contains("[].keyword")
            || keys.contains("[].elements")
                && ["[].uri", "[].keyword", "[].elements[].steps", "[].elements[].before"].contains(
                    where: keys.contains)
    }

    /// An object of the format.
    private enum Place { case feature, scenario, step, hook }

    private static func place(_ path: Substring) -> Place? {
        switch path {
        case "[]": .feature
        case "[].elements[]": .scenario
        case "[].elements[].steps[]": .step
        case "[].elements[].before[]", "[].elements[].after[]", "[].elements[].around[]",
            "[].elements[].steps[].before[]", "[].elements[].steps[].after[]":
            .hook
        default: nil
        }
    }

    /// The path of the object that a value is in, and the rest of the value's path.
    private static func split(_ path: String) -> (object: Substring, field: Substring) {
        guard let end = path.utf8.lastIndex(of: UInt8(ascii: "]")) else { return ("", path[...]) }
        return (path[...end], path[end...].dropFirst(2))
    }

    /// Steps are entered, because screenshots in one of them may be larger than what is kept of a value.
    func wish(at path: String) -> JSONWish {
        if path.isEmpty { return .enter }
        let (object, field) = Self.split(path)
        guard let place = Self.place(object) else { return .skip }
        switch (place, field) {
        case (_, ""), (.feature, "elements"), (.scenario, "steps"), (.scenario, "around"),
            (.scenario, "before"), (.scenario, "after"), (.step, "before"), (.step, "after"),
            (.step, "result"), (.step, "match"), (.hook, "result"), (.hook, "match"):
            return .enter
        case (.feature, "name"), (.feature, "uri"), (.scenario, "name"), (.scenario, "line"), (.scenario, "type"),
            (.step, "keyword"), (.step, "name"), (.step, "line"), (.step, "hidden"):
            return .take
        case (.step, _), (.hook, _): return Self.resultFields.contains(field) ? .take : .skip
        default: return .skip
        }
    }

    private static let resultFields: Set<Substring> = [
        "result.status", "result.duration", "result.error_message", "match.location", "output",
    ]

    mutating func take(_ value: JSONValue, at path: String) {
        let (object, field) = Self.split(path)
        switch (Self.place(object), field) {
        case (.feature, "name"): feature = value.text
        case (.feature, _): file = value.text.map(Self.path)
        case (.scenario, "name"): scenario.name = value.text
        case (.scenario, "line"): scenario.line = value.int
        case (.scenario, _): scenario.isBackground = value.text == "background"
        case (_, "output"):
            for text in value.elements.compactMap(\.text) { scenario.output.append((text + "\n").utf8) }
        case (.step, _): step.set(field, value)
        case (.hook, _): hook.set(field, value)
        case (nil, _): break
        }
    }

    mutating func leave(_ path: String) {
        switch Self.place(path[...]) {
        case .hook:
            hook.isHook = true
            scenario.add(hook)
            hook = Step()
        case .step:
            scenario.add(step)
            step = Step()
        case .scenario: endScenario()
        case .feature: endFeature()
        case nil: break
        }
    }

    /// `file:features/a.feature` and `classpath:features/a.feature` become `features/a.feature`.
    private static func path(_ uri: String) -> String {
        for scheme in ["file://", "file:", "classpath:"] where uri.hasPrefix(scheme) {
            return String(uri.dropFirst(scheme.count))
        }
        return uri
    }
}

// MARK: - Scenarios

extension CucumberReading {
    /// A step or a hook.
    private struct Step {
        var keyword = ""
        var name: String?
        var line: Int?
        var isHook = false
        var status: String?
        var nanoseconds: Double?
        var message: String?
        var location: String?

        mutating func set(_ field: Substring, _ value: JSONValue) {
            switch field {
            case "keyword": keyword = value.text ?? ""
            case "name": name = value.text
            case "line": line = value.int
            // cucumber-js has hooks among the steps.
            case "hidden": isHook = value.isTrue
            case "result.status": status = value.text
            case "result.duration": nanoseconds = value.number
            case "result.error_message": message = value.text
            case "match.location": location = value.text
            default: break
            }
        }
    }

    /// How a step or hook ended, from the best to the worst.
    private enum Outcome: String, CaseIterable, Comparable {
        case passed, skipped, pending, undefined, ambiguous, unknown, failed

        private var rank: Int { Self.allCases.firstIndex(of: self) ?? 0 }

        static func < (one: Outcome, other: Outcome) -> Bool { one.rank < other.rank }
    }

    /// The facts that are kept of a scenario until its feature's name is known.
    private struct Scenario {
        var name: String?
        var line: Int?
        var isBackground = false
        var hasSteps = false
        var nanoseconds: Double?
        var outcome = Outcome.passed
        /// The first of its steps and hooks with this outcome; nil if all passed.
        var cause: Step?
        var output: BoundedText

        init(_ limits: TestResultLimits) { output = BoundedText(limit: limits.fieldBytes) }

        mutating func add(_ step: Step) {
            hasSteps = true
            add(step.nanoseconds)
            let outcome = step.status.flatMap(Outcome.init(rawValue:)) ?? .unknown
            if outcome > self.outcome { (self.outcome, cause) = (outcome, step) }
        }

        private mutating func add(_ time: Double?) {
            if let time, time >= 0 { nanoseconds = (nanoseconds ?? 0) + time }
        }

        /// Adds the background that ran before it.
        mutating func add(_ background: Scenario) {
            hasSteps = hasSteps || background.hasSteps
            add(background.nanoseconds)
            if background.outcome >= outcome { (outcome, cause) = (background.outcome, background.cause) }
            var all = background.output
            all.append(output.bytes)
            output = all
        }

        var status: TestResult.Status {
            switch outcome {
            case .passed: hasSteps ? .passed : .skipped
            case .skipped, .pending: .skipped
            case .undefined, .ambiguous, .unknown: .errored
            case .failed: cause?.isHook == true ? .errored : .failed
            }
        }

        mutating func shorten(_ nameWithinLimit: (String) -> String) {
            name = name.map(nameWithinLimit)
            guard var step = cause else { return }
            step.keyword = nameWithinLimit(step.keyword)
            step.name = step.name.map(nameWithinLimit)
            cause = step
        }

        mutating func dropTexts() {
            cause?.message = nil
            cause?.location = nil
            output = BoundedText(limit: 0)
        }

        /// The bytes of its texts, without names.
        var keptBytes: Int {
            output.bytes.count + (cause?.message?.utf8.count ?? 0) + (cause?.location?.utf8.count ?? 0)
        }
    }

    private mutating func endScenario() {
        sawScenario = true
        defer { scenario = Scenario(collector.limits) }
        endBackground(before: scenario)
        if scenario.isBackground { background = scenario } else { keep(scenario) }
    }

    /// cucumber-ruby writes only the background of a scenario without steps of its own.
    private mutating func endBackground(before next: Scenario?) {
        guard let background else { return }
        self.background = nil
        if let next, !next.isBackground { return scenario.add(background) }
        guard background.status.isFailure else { return }
        var test = background
        test.name = test.name ?? "Background"
        keep(test)
    }

    private mutating func keep(_ scenario: Scenario) {
        let limits = collector.limits
        guard scenarios.count < limits.tests else { return collector.sayTestsAreLeftOut() }
        var scenario = scenario
        scenario.shorten(collector.nameWithinLimit)
        if !scenario.status.isFailure { scenario.output = BoundedText(limit: 0) }
        if keptBytes + scenario.keptBytes > limits.totalBytes {
            scenario.dropTexts()
            collector.sayTextIsLeftOut()
        }
        keptBytes += scenario.keptBytes
        scenarios.append(scenario)
    }

    private mutating func endFeature() {
        endBackground(before: nil)
        for scenario in scenarios { add(scenario) }
        (scenarios, keptBytes, feature, file) = ([], 0, nil, nil)
    }

    mutating func finish() {
        // The scenarios of a feature whose end is missing.
        endFeature()
        if !sawScenario {
            collector.say(
                "has no scenarios: none ran", key: "none",
                suggestion: "Check the step's log, and the tags and paths that choose scenarios.")
        }
    }
}

// MARK: - Results

extension CucumberReading {
    private mutating func add(_ scenario: Scenario) {
        var result = TestResult(
            suite: feature ?? file ?? "", name: scenario.name ?? "(unnamed)", status: scenario.status,
            duration: Seconds.ofNanoseconds(scenario.nanoseconds), file: file, line: scenario.line)
        let output = scenario.output.string
        switch (result.status, scenario.cause) {
        case (.skipped, let cause):
            result.message = cause.map { Self.reason($0, scenario.outcome) } ?? "it has no steps"
        case (_, let cause?):
            var parts = FailureParts()
            parts.message = Self.message(cause, scenario.outcome)
            let title = Self.title(cause)
            parts.trace = cause.message.map { title + "\n" + $0 } ?? title
            parts.output = output.isEmpty ? nil : output
            parts.describe(&result)
            // The step's own place is exact. Its definition, which the trace has, serves many scenarios.
            if !cause.isHook, let line = cause.line, file != nil { (result.file, result.line) = (file, line) }
        case (_, nil): break
        }
        collector.add(result, from: TestOrigin(file: file))
    }

    private static func message(_ step: Step, _ outcome: Outcome) -> String {
        let said = step.message.map(withoutFrames)
        return switch outcome {
        case .undefined: "no step definition matches: \(title(step))"
        case .ambiguous: said ?? "several step definitions match: \(title(step))"
        case .unknown: said ?? "\(step.status ?? "no result"): \(title(step))"
        default: said ?? "failed: \(title(step))"
        }
    }

    private static func reason(_ step: Step, _ outcome: Outcome) -> String? {
        if let message = step.message { return withoutFrames(message).trimmed }
        return outcome == .pending ? "pending: \(title(step))" : nil
    }

    /// `Then it holds 3 things`; of a hook, what the report knows.
    private static func title(_ step: Step) -> String {
        if step.isHook { return "\(step.keyword.isEmpty ? "" : step.keyword + " ")hook \(step.location ?? "")".trimmed }
        return "\(step.keyword.trimmed) \(step.name ?? "")".trimmed
    }

    /// The text before its first stack frame, which Ruby writes as ``./features/steps.rb:4:in `a step'``.
    private static func withoutFrames(_ text: String) -> String {
        var end = text.startIndex
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            if let mark = line.byteRange(of: ":in "), line[..<mark.lowerBound].utf8.last?.isDigit == true,
                let quote = line[mark.upperBound...].utf8.first, "`'".utf8.contains(quote)
            {
                let message = String(text[..<end])
                return message.trimmed.isEmpty ? text : message
            }
            end = line.endIndex
        }
        return FailureText.withoutFrames(text)
    }
}
