/// What one test lost between the target and the change.
struct TestComparison {
    let old: TestShape
    let new: TestShape
    let before: Promise
    let after: Promise
    /// Whether another branch of `#if` declares a test with the same name.
    var hasTwin = false

    /// Reports what the test lost, each loss as a breach; empty if it checks as much as before.
    func breaches() -> [Breach] {
        skips() + cases() + promises() + waits() + tolerances()
    }

    private func breach(
        _ kind: Breach.Kind, _ message: String, _ certainty: Breach.Certainty = .seen, line: Int? = nil
    ) -> Breach {
        let name = old.title == new.title ? "" : " (was \(old.title))"
        return Breach(
            kind, certainty, test: new.title, message: "\(new.title)\(name): \(message)", file: new.file,
            line: line ?? new.line)
    }

    private func skips() -> [Breach] {
        var breaches: [Breach] = []
        var known = old.skips
        let fresh = new.skips.filter { skip in
            guard let place = known.firstIndex(of: skip) else { return true }
            known.remove(at: place)
            return false
        }
        // The number of skips is the same but the texts differ. That is no worse, unless a skip lost its condition.
        let isHarder = new.skips.contains(where: Self.isAlways) && !old.skips.contains(where: Self.isAlways)
        if new.skips.count > old.skips.count || isHarder, let first = fresh.first {
            breaches.append(breach(.skippedTest, "newly skipped by \(first)"))
        }
        if let base = new.unknownBase, old.unknownBase == nil {
            breaches.append(
                breach(
                    .skippedTest, "its class now derives from \(base), which can't be found: it may skip the test",
                    .unclear))
        }
        let conditions = new.conditions.filter { !old.conditions.contains($0) }
        if !hasTwin, new.conditions.count > old.conditions.count, let first = conditions.first {
            let what = first.hasPrefix("@") ? "runs now only where \(first) holds" : "is now compiled only #if \(first)"
            breaches.append(breach(.skippedTest, what, .unclear))
        }
        return breaches
    }

    private static func isAlways(_ skip: String) -> Bool {
        skip.hasPrefix(".disabled") && !skip.hasPrefix(".disabled(if") || skip.hasPrefix("XCTSkip(")
    }

    private func cases() -> [Breach] {
        guard old.hasArguments else { return [] }
        switch (old.cases, new.hasArguments ? new.cases : 1) {
        case (let before?, let after?) where after < before:
            return [breach(.fewerCases, "has \(after) cases instead of \(before)")]
        case (let before?, nil) where before > 1:
            return [
                breach(.fewerCases, "had \(before) cases; the number of its cases now can't be determined", .unclear)
            ]
        default: return []
        }
    }

    private func promises() -> [Breach] {
        // With arguments, one assertion checks each case and so replaces several.
        let cases = new.hasArguments && !old.hasArguments ? max(1, new.cases ?? 1_000) : 1
        guard new.framework != .other else { return [] }
        if old.words.total > 0, new.words.total == 0, old.framework != .other {
            return [breach(.weakerTest, "its body is empty")]
        }
        if after.total * cases < before.total, !isAbsorbed {
            return [
                breach(
                    .weakerTest,
                    after.total == 0
                        ? "has no assertions any more; it had \(Self.count(before.total))"
                        : "has \(Self.count(after.total)) instead of \(before.total)")
            ]
        }
        if new.body.failures.count < old.body.failures.count,
            after.total + new.body.tries <= before.total + old.body.tries,
            after.total <= before.total, after.unconditional <= before.unconditional
        {
            return [
                breach(.weakerTest, "\(old.body.failures.count - new.body.failures.count) explicit failures are gone")
            ]
        }
        if after.value * cases < before.value && after.total * cases <= before.total
            || after.strong * cases < before.strong
        {
            let known = Set(old.body.assertions.map(\.text))
            let line = new.body.assertions.first { $0.strength < .value && !known.contains($0.text) }?.line
            return [
                breach(
                    .weakerTest,
                    "checks \(after.value) exact values and \(after.condition) conditions instead of \(before.value) and \(before.condition)",
                    line: line)
            ]
        }
        if after.unconditional * cases < before.unconditional, after.conditional > before.conditional {
            let line = new.body.assertions.first(where: \.isConditional)?.line
            return [
                breach(
                    .weakerTest,
                    "\(before.unconditional - after.unconditional) of its assertions are now conditional",
                    line: line)
            ]
        }
        if new.body.swallowed.count > old.body.swallowed.count,
            new.body.tries < old.body.tries + (before.total == 0 ? 1 : 0)
                || new.body.swallowed.count > old.body.swallowed.count && new.body.tries <= old.body.tries
        {
            return [
                breach(.weakerTest, "ignores errors that made it fail before", line: new.body.swallowed.last)
            ]
        }
        return []
    }

    /// Assertions of a thrown error, or of an unwrapped value, may be written as one or as several.
    private var isAbsorbed: Bool {
        let lost = before.total - after.total
        let gained = max(0, new.body.tries - old.body.tries)
        return lost <= gained && after.value >= before.value
    }

    private func waits() -> [Breach] {
        let added = new.body.sleeps.count - old.body.sleeps.count
        guard added > 0 else { return [] }
        return [breach(.addedSleep, "waits for a time in \(added) more places", line: new.body.sleeps.last)]
    }

    private func tolerances() -> [Breach] {
        let fresh = new.body.tolerances.filter { one in
            ["accuracy", "tolerance", "absoluteTolerance", "relativeTolerance", "within"].contains(one.label)
                && !old.body.tolerances.contains { $0.label == one.label }
        }
        if let first = fresh.first, after.total <= before.total {
            return [
                breach(
                    .widerTolerance, "\(first.label) is \(Self.text(first)), where equality was required",
                    line: first.line
                )
            ]
        }
        return Self.widened(old.body.tolerances, new.body.tolerances).map { one in
            breach(
                .widerTolerance, "\(one.new.label) is \(Self.text(one.new)) instead of \(Self.text(one.old))",
                line: one.new.line)
        }
    }

    static func widened(
        _ old: [BodyShape.Tolerance], _ new: [BodyShape.Tolerance]
    ) -> [(old: BodyShape.Tolerance, new: BodyShape.Tolerance)] {
        var found: [(old: BodyShape.Tolerance, new: BodyShape.Tolerance)] = []
        for label in Set(new.map(\.label)).sorted() {
            let (before, after) = (old.filter { $0.label == label }, new.filter { $0.label == label })
            guard let widest = before.max(by: { $0.value < $1.value }) else { continue }
            if before.count == after.count {
                for (one, other) in zip(before, after) where other.value > one.value { found.append((one, other)) }
            } else if let now = after.max(by: { $0.value < $1.value }), now.value > widest.value {
                found.append((widest, now))
            }
        }
        return found
    }

    private static func text(_ tolerance: BodyShape.Tolerance) -> String {
        let value = tolerance.label.lowercased().hasSuffix("precision") ? 1 - tolerance.value : tolerance.value
        return value == value.rounded() && abs(value) < 1e15 ? String(Int(value)) : String(value)
    }

    private static func count(_ assertions: Int) -> String { "\(assertions) assertion\(assertions == 1 ? "" : "s")" }
}
