import Results
import Foundation

/// The steps as bars on a common time axis, which shows what ran in parallel.
extension HTMLReport {
    /// The start of the axis and its length.
    struct Span {
        var start: Date
        var seconds: Double

        init(_ report: Report) {
            let attempts = report.steps.flatMap(\.attempts)
            start = ([report.startedAt ?? report.createdAt] + attempts.map(\.startedAt)).min() ?? report.createdAt
            let end = (attempts.map { $0.endedAt ?? report.endedAt } + [report.endedAt]).max() ?? report.endedAt
            let length = end.timeIntervalSince(start)
            seconds = length.isFinite ? max(length, 0.001) : 1
        }
    }

    /// Seconds between two lines of the axis: 1, 2 or 5 times a power of ten, or a unit of a clock.
    private var interval: Double {
        let steps: [Double] = [
            0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1200, 1800,
            3600, 7200, 14400, 28800, 86400,
        ]
        return steps.first { span.seconds / $0 <= 6 } ?? span.seconds
    }

    /// The vertical lines of the axis, as a CSS rule that contains only one number.
    var timelineGrid: String { ".bars,.axis{background-size:\(percent(interval / span.seconds)) 100%}\n" }

    func timeline() -> HTML {
        guard !report.steps.isEmpty else { return "" }
        let attempts = report.steps.flatMap(\.attempts)
        let isLong = report.steps.count > 40
        var html: HTML = """
            <section id="timeline"><h2>Timeline <span class="n">\(Figures.count(report.steps.count, "step"))</span></h2>
            <p class="quiet">\(stateCounts); at most \(Figures.grouped(mostAtOnce(attempts))) at the same time</p>
            <div class="timeline\(HTML(trusted: isLong ? " long" : ""))\(HTML(trusted: timelineLinks == nil ? "" : " ticks"))"
            """
        if isLong { html += " role=\"region\" aria-label=\"Timeline\" tabindex=\"0\"" }
        html += ">\n<div class=\"axis-row\" aria-hidden=\"true\"><span></span>"
        html += "<svg class=\"axis\" width=\"100%\" height=\"18\">"
        var tick = 0.0
        while tick <= span.seconds * 0.94 {
            html += "<text x=\"\(percent(tick / span.seconds))\" y=\"12\" dx=\"4\">\(axisLabel(tick))</text>"
            tick += interval
        }
        html += "</svg><span></span></div>\n<ol>\n"
        let order = report.steps.indices.sorted { one, other in
            let first = report.steps[one].attempts.first?.startedAt ?? .distantFuture
            let second = report.steps[other].attempts.first?.startedAt ?? .distantFuture
            return (first, one) < (second, other)
        }
        let ends = Dictionary(
            report.steps.map { ($0.name, $0.attempts.last?.endedAt) }, uniquingKeysWith: { first, _ in first })
        for index in order.prefix(options.stepLimit) {
            html += row(report.steps[index], number: index + 1, ends: ends)
        }
        html += "</ol></div>\n"
        if order.count > options.stepLimit {
            html += "<p class=\"quiet\">and \(Figures.grouped(order.count - options.stepLimit)) more steps</p>\n"
        }
        html += """
            <p class="legend quiet" aria-hidden="true">\
            <span><svg width="18" height="10"><rect class="c-passed" width="18" height="10" rx="2"/></svg>passed</span>\
            <span><svg width="18" height="10"><rect class="c-failed" width="18" height="10" rx="2"/></svg>failed</span>\
            <span><svg width="18" height="10"><line class="wait" x1="0" x2="18" y1="5" y2="5"/></svg>waiting, though its \
            needs were met</span></p></section>

            """
        return html
    }

    private func row(_ step: StepRecord, number: Int, ends: [String: Date?]) -> HTML {
        let took = Wording.proof(step) ?? step.duration.map(Figures.duration) ?? ""
        var html: HTML = "<li class=\"s-\(step.status.rawValue)\">"
        let place = timelineLinks?(number) ?? "#s\(number)"
        html += "<a class=\"name\" href=\"\(place)\">\(sign(step.status)) <span>\(step.name)</span></a>"
        html += "<svg class=\"bars\" width=\"100%\" height=\"16\" role=\"img\" aria-label=\"\(spoken(step))\">"
        if timelineLinks != nil, report.steps.count <= 30 {
            for place in stride(from: 0, to: span.seconds, by: interval).prefix(8) {
                let x = percent(place / span.seconds)
                html += "<line class=\"tick\" x1=\"\(x)\" x2=\"\(x)\" y1=\"-5\" y2=\"22\"/>"
            }
        }
        if let first = step.attempts.first {
            // A step is ready when the last step that it needs has ended, or at the run's start if it needs none.
            let ready = step.needs.isEmpty ? span.start : step.needs.compactMap { ends[$0] ?? nil }.max()
            if let ready { html += waiting(from: ready, to: first.startedAt) }
        }
        var previousEnd: Date?
        for attempt in step.attempts {
            if let previousEnd { html += waiting(from: previousEnd, to: attempt.startedAt) }
            let end = attempt.endedAt ?? report.endedAt
            previousEnd = end
            let width = max(fraction(end) - fraction(attempt.startedAt), 0.004)
            let left = min(fraction(attempt.startedAt), 1 - width)
            let length = Figures.duration(from: attempt.startedAt, to: end)
            let offset = Figures.duration(from: span.start, to: attempt.startedAt)
            html += """
                <rect class="c-\(attempt.status.rawValue)" x="\(percent(left))" width="\(percent(width))" y="2" \
                height="12" rx="2"><title>attempt \(attempt.number): \(Wording.title(attempt.status)), \(length), \
                started \(offset) after the run</title></rect>
                """
        }
        html += "</svg><span class=\"took\">"
        if step.status != .passed { html += "<span class=\"state\">\(Wording.title(step.status))</span> " }
        if step.attempts.count > 1 { html += "<span class=\"quiet\">\(step.attempts.count)×</span> " }
        html += "\(took)</span>"
        if step.status != .passed, let reason = step.reason { html += "<span class=\"why quiet\">\(reason)</span>" }
        html += "</li>\n"
        return html
    }

    private func waiting(from start: Date, to end: Date) -> HTML {
        guard fraction(end) - fraction(start) > 0.003 else { return "" }
        let length = Figures.duration(from: start, to: end)
        return """
            <line class="wait" x1="\(percent(fraction(start)))" x2="\(percent(fraction(end)))" y1="8" y2="8">\
            <title>waited \(length)</title></line>
            """
    }

    private func fraction(_ date: Date) -> Double {
        min(max(date.timeIntervalSince(span.start) / span.seconds, 0), 1)
    }

    private func percent(_ fraction: Double) -> String {
        let hundredths = Int((min(max(fraction.isNaN ? 0 : fraction, 0), 1) * 10_000).rounded())
        return "\(hundredths / 100).\(Figures.twoDigits(hundredths % 100))%"
    }

    private func axisLabel(_ seconds: Double) -> String {
        if seconds < 0.0005 { return "0" }
        if interval < 1 { return Figures.duration(seconds) }
        return Figures.duration(seconds.rounded())
    }

    private var stateCounts: String {
        let counts = Dictionary(grouping: report.steps, by: \.status).mapValues(\.count)
        return StepStatus.allCases.compactMap { status in
            counts[status].map { "\(Figures.grouped($0)) \(Wording.title(status))" }
        }.joined(separator: ", ")
    }

    private func spoken(_ step: StepRecord) -> String {
        guard !step.attempts.isEmpty else { return Wording.proof(step) ?? "not run" }
        return step.attempts.map { attempt in
            let length = Figures.duration(from: attempt.startedAt, to: attempt.endedAt ?? report.endedAt)
            return "attempt \(attempt.number) \(Wording.title(attempt.status)) after \(length)"
        }.joined(separator: ", ")
    }

    private func mostAtOnce(_ attempts: [AttemptRecord]) -> Int {
        // At the same moment, ends are counted before starts: a step that follows another did not run in parallel with
        // it.
        let moments = attempts.flatMap { [($0.startedAt, 1), ($0.endedAt ?? report.endedAt, -1)] }
            .sorted { ($0.0, $0.1) < ($1.0, $1.1) }
        var running = 0
        var most = 0
        for (_, change) in moments {
            running += change
            most = max(most, running)
        }
        return most
    }
}
