import Masking
import Results

/// Removes the secrets that a step may have put into names and messages.
extension StepOutcome {
    func masked(by masker: Masker) -> StepOutcome {
        var copy = self
        copy.record.reason = record.reason.map(masker.masked)
        copy.record.attempts = record.attempts.map { $0.masked(by: masker) }
        copy.tests = tests.map { $0.masked(by: masker) }
        copy.findings = findings.map { $0.masked(by: masker) }
        return copy
    }
}

extension StepRunner.Attempt {
    func masked(by masker: Masker) -> StepRunner.Attempt {
        var copy = self
        copy.record = record.masked(by: masker)
        copy.tests = tests.map { $0.masked(by: masker) }
        copy.findings = findings.map { $0.masked(by: masker) }
        copy.diagnostics = diagnostics.map { $0.masked(by: masker) }
        return copy
    }
}

extension AttemptRecord {
    func masked(by masker: Masker) -> AttemptRecord {
        var copy = self
        copy.reason = reason.map(masker.masked)
        return copy
    }
}

extension TestResult {
    /// The secrets in the result file were replaced when it was copied. Those that the file's escapes hid are found
    /// here.
    fileprivate func masked(by masker: Masker) -> TestResult {
        var copy = self
        copy.suite = masker.masked(suite)
        copy.name = masker.masked(name)
        copy.message = message.map(masker.masked)
        copy.details = details.map(masker.masked)
        copy.file = file.map(masker.masked)
        return copy
    }
}

extension Finding {
    fileprivate func masked(by masker: Masker) -> Finding {
        var copy = self
        copy.message = masker.masked(message)
        copy.file = file.map(masker.masked)
        copy.suggestion = suggestion.map(masker.masked)
        copy.rule = masker.masked(rule)
        copy.excerpt = excerpt.map(masker.masked)
        return copy
    }
}
