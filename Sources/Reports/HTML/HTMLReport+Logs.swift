import Results

/// The steps, each with its command, its attempts and their output.
extension HTMLReport {
    private static let linesPerPiece = 200

    mutating func stepLogs() -> HTML {
        guard !report.steps.isEmpty else { return "" }
        let shares = logShares()
        var html: HTML = """
            <section id="logs"><h2>Logs</h2>
            <div class="tools" id="log-tools" hidden><input type="search" id="log-query" placeholder="Search all logs" \
            aria-label="Search all logs" autocomplete="off" spellcheck="false"><label><input type="checkbox" \
            id="log-only"> only matching lines</label><button type="button" id="log-previous" aria-label="Previous match">\
            ↑</button><button type="button" id="log-next" aria-label="Next match">↓</button>\
            <output id="log-found" class="quiet"></output></div>

            """
        html.reserve(shares.values.reduce(0, +) * 3 / 2)
        for (index, step) in report.steps.enumerated()
        where index < options.stepLimit || step.status.isFailure {
            append(step, number: index + 1, shares, to: &html)
        }
        html += "</section>\n"
        return html
    }

    /// How many bytes of each log are shown. Logs of failed steps take precedence.
    private func logShares() -> [String: Int] {
        var rest = options.logBytes
        var shares: [String: Int] = [:]
        let failed = facts.failedSteps
        let others = report.steps.filter { !$0.status.isFailure }
        let order = [failed.compactMap(\.attempts.last), failed.flatMap { $0.attempts.dropLast() }]
        for attempt in order.joined() + others.flatMap(\.attempts) {
            guard let file = attempt.log?.file, let log = logs[file], shares[file] == nil else { continue }
            let share = min(log.bytes.count, options.logBytesPerAttempt, rest)
            shares[file] = share
            rest -= share
        }
        return shares
    }

    private mutating func append(_ step: StepRecord, number: Int, _ shares: [String: Int], to html: inout HTML) {
        html += "<details class=\"step\" id=\"s\(number)\"><summary>\(sign(step.status)) <b>\(step.name)</b> "
        if step.status != .passed { html += "<span class=\"state\">\(Wording.title(step.status))</span> " }
        html += "<span class=\"quiet\">\(Wording.proof(step) ?? step.duration.map(Figures.duration) ?? "")"
        if step.attempts.count > 1 { html += " · \(step.attempts.count) attempts" }
        if let counts = step.testCounts, counts.total > 0 { html += " · \(Wording.counts(counts))" }
        html += "</span> <span class=\"hits\"></span></summary>\n<p class=\"meta\"><code>\(step.command)</code>"
        if !step.needs.isEmpty { html += " <span class=\"quiet\">needs \(step.needs.joined(separator: ", "))</span>" }
        html += "</p>\n"
        if let reason = step.reason { html += "<p class=\"meta\">\(text: reason)</p>\n" }
        if let proof = step.provedBy {
            html +=
                "<p class=\"meta\">Not run: \(Wording.run(proof)) proved it, with the same inputs, command and build box. "
            html += "Its tests and artifacts are those of that run: "
            html += "<code class=\"all\">\(ReportFacts.logsCommand(proof.run, proof.step))</code></p>\n"
        } else if let earlier = step.carriedFrom {
            html +=
                "<p class=\"meta\">Not repeated: it passed in run \(earlier.run), and this run continues in that run's "
            html += "workspace. Its tests and artifacts are those of that run: "
            html += "<code class=\"all\">\(ReportFacts.logsCommand(earlier.run, earlier.step))</code></p>\n"
        } else if step.attempts.isEmpty {
            html += "<p class=\"meta quiet\">Not run.</p>\n"
        }
        for attempt in step.attempts {
            append(attempt, of: step, id: "s\(number)a\(attempt.number)", shares, to: &html)
        }
        html += "</details>\n"
    }

    private mutating func append(
        _ attempt: AttemptRecord, of step: StepRecord, id: HTML, _ shares: [String: Int], to html: inout HTML
    ) {
        let isOnly = step.attempts.count == 1
        var title = "\(Wording.title(attempt.status))"
        if let code = attempt.exitCode { title += ", exit code \(code)" }
        if let signal = attempt.signal { title += ", signal \(signal)" }
        let length = Figures.duration(from: attempt.startedAt, to: attempt.endedAt ?? report.endedAt)
        title += ", \(length), started \(Figures.time(attempt.startedAt))"
        if let machine = attempt.machine { title += ", on \(machine)" }
        if let log = attempt.log { title += ", \(Figures.size(log.bytes)) of output" }
        if isOnly {
            html += "<p class=\"meta quiet\">\(title)</p>\n"
        } else {
            let isLast = attempt.number == step.attempts.last?.number
            html += "<details class=\"attempt\"\(HTML(trusted: isLast ? " open" : ""))>"
            html += "<summary>Attempt \(attempt.number) <span class=\"quiet\">\(title)</span></summary>\n"
            if let reason = attempt.reason { html += "<p class=\"meta\">\(text: reason)</p>\n" }
        }
        let command = ReportFacts.logsCommand(report.id, step.name)
        if let record = attempt.log {
            if let log = logs[record.file], let share = shares[record.file], share > 0 || log.bytes.isEmpty {
                append(log, record, share: share, id: id, command: command, to: &html)
            } else {
                html += "<p class=\"meta quiet\">This log is not part of the page: "
                html += "<code class=\"all\">\(command)</code></p>\n"
            }
        } else {
            html += "<p class=\"meta quiet\">No output.</p>\n"
        }
        if !isOnly { html += "</details>\n" }
    }

    private mutating func append(
        _ log: ReportLog, _ record: LogRecord, share: Int, id: HTML, command: String, to html: inout HTML
    ) {
        html += "<div class=\"log\" role=\"region\" aria-label=\"Log\" tabindex=\"0\">\n"
        log.bytes.withUnsafeBufferPointer { bytes in
            var (headEnd, tailStart) = (bytes.count, bytes.count)
            if share < bytes.count {
                headEnd = lineStart(bytes, atOrBefore: share / 5)
                tailStart = lineStart(bytes, atOrAfter: bytes.count - share * 4 / 5)
            }
            var lines = LineCursor(dropNote: record.droppedBytes > 0 ? dropNote(record) : nil)
            append(bytes, 0..<headEnd, log, id, &lines, to: &html)
            guard tailStart > headEnd else { return }
            lines.closePiece(&html)
            let left = Figures.grouped(tailStart - headEnd)
            html += "<div class=\"gap\">\(left) bytes left out here. The whole log: "
            html += "<code class=\"all\">\(command)</code></div>\n"
            lines.number += bytes[headEnd..<tailStart].count { $0 == 0x0A }
            append(bytes, tailStart..<bytes.count, log, id, &lines, to: &html)
        }
        html += "</div>\n"
    }

    /// The position of the next line in the log, and the last text in the margin.
    private struct LineCursor {
        /// How the line begins that marks dropped output between the log's head and tail.
        let dropNote: String?
        var number = 1
        var time = ""
        var linesInPiece = 0

        init(dropNote: String?) { self.dropNote = dropNote }

        mutating func closePiece(_ html: inout HTML) {
            if linesInPiece > 0 { html += "</div>\n" }
            linesInPiece = 0
        }
    }

    private func dropNote(_ record: LogRecord) -> String {
        "[pipectl: \(Figures.grouped(record.droppedBytes)) bytes dropped here"
    }

    private mutating func append(
        _ bytes: UnsafeBufferPointer<UInt8>, _ range: Range<Int>, _ log: ReportLog, _ id: HTML,
        _ cursor: inout LineCursor, to html: inout HTML
    ) {
        var start = range.lowerBound
        while start < range.upperBound {
            let end = bytes[start..<range.upperBound].firstIndex(of: 0x0A) ?? range.upperBound
            let line = UnsafeBufferPointer(rebasing: bytes[start..<end])
            if let note = cursor.dropNote, line.starts(with: note.utf8) {
                cursor.closePiece(&html)
                html += "<div class=\"gap\">\(String(decoding: line, as: UTF8.self))</div>\n"
            } else {
                if cursor.linesInPiece == 0 { html += "<div class=\"piece\">" }
                html += "<div class=\"l\" id=\"\(id)-\(cursor.number)\"><a href=\"#\(id)-\(cursor.number)\""
                if let milliseconds = log.milliseconds(start) {
                    let time = Figures.offset(milliseconds: milliseconds)
                    // A repeated time says nothing new.
                    if time != cursor.time { html += " data-t=\"\(time)\"" }
                    cursor.time = time
                }
                html += ">\(cursor.number)</a>"
                html.append(ansi: line, with: &ansi)
                html += "</div>"
                cursor.linesInPiece += 1
                if cursor.linesInPiece == Self.linesPerPiece { cursor.closePiece(&html) }
            }
            cursor.number += 1
            start = end + 1
        }
        cursor.closePiece(&html)
    }

    private func lineStart(_ bytes: UnsafeBufferPointer<UInt8>, atOrBefore offset: Int) -> Int {
        // The search is limited, because a log may be a single line.
        let floor = max(0, offset - 16_384)
        var start = offset
        while start > floor, bytes[start - 1] != 0x0A { start -= 1 }
        return start > floor ? start : offset
    }

    private func lineStart(_ bytes: UnsafeBufferPointer<UInt8>, atOrAfter offset: Int) -> Int {
        let ceiling = min(bytes.count, offset + 16_384)
        var start = max(offset, 0)
        while start < ceiling, start > 0, bytes[start - 1] != 0x0A { start += 1 }
        return start < ceiling ? start : max(offset, 0)
    }
}
