import Control
import Diagnostics
import Foundation
import PageMarkup
import Pipeline
import Reports
import Results

/// The log of a step.
extension PageViews {
    /// Bytes and lines of a log that its page shows: its start and its end.
    static let logBytes = 1 << 20
    static let logLines = 20_000
    /// Lines of a log that a page shows from one in the middle on, and before it.
    private static let middleLines = 5_000
    private static let linesBefore = 20

    func log(_ id: RunID, _ step: String, _ request: PageRequest) async throws -> Page {
        let source = try await logSource(id, step, request)
        let known = source.isLive ? [] : await findings(of: source)
        // A log of the archive is in memory as a whole.
        return try await logTurns.take {
            let content = try await source.content() ?? .bytes([])
            var question = LogMap.Question(text: request.value("q").map { String($0.prefix(200)) })
            if source.status?.isFailure == true {
                question.failure = try await failureTexts(known, content)
            }
            let map = try await LogMap(content, question)
            var view = LogView(source: source, content: content, map: map)
            try await view.show(from: request.value("from").flatMap(Int.init))
            return view.page(request)
        }
    }

    private func findings(of source: LogSource) async -> [Finding] {
        guard source.folder == nil, let report = try? await host.report(source.run) else { return [] }
        return report.findings.filter { $0.step == source.name }
    }

    /// What the line of the first failure contains: as the report names it, else as the log's own lines do.
    private func failureTexts(_ findings: [Finding], _ content: LogContent) async throws -> [String] {
        var errors = findings.filter { $0.severity == .error }
        if errors.isEmpty {
            let (_, start) = try await content.read(from: 0)
            let rest = max(content.size - start.count, 0)
            let end = rest == 0 ? [] : try await content.read(from: max(content.size - (512 << 10), start.count)).bytes
            errors = DiagnosticScanner().findings(in: start + end).filter { $0.severity == .error }
        }
        return errors.prefix(5).flatMap { finding in
            let message = finding.message.split(separator: "\n").first.map { String($0.prefix(120)) } ?? ""
            let place = finding.file.flatMap { file in finding.line.map { "\(file):\($0)" } }
            let texts: [String?] = [place.map { "\($0):" }, message.utf8.count > 5 ? message : nil, place]
            return texts.compactMap { $0 }
        }
    }

    /// Where the log of a step's attempt is now.
    func logSource(_ id: RunID, _ step: String, _ request: PageRequest) async throws -> LogSource {
        guard let number = Int(step), number > 0 else { throw PageProblem(.notFound, "there is no step \"\(step)\"") }
        let wanted = request.value("attempt").flatMap(Int.init)
        let detail = try await host.run(id)
        if let live = detail.live, number <= live.steps.count {
            let one = live.steps[number - 1]
            let attempt = max(wanted ?? one.attempt, 1)
            let ended = one.record.attempts.first { $0.number == attempt }?.status
            return LogSource(
                run: id, name: one.record.name, step: number, attempt: attempt,
                file: AttemptRecord.logName(step: number, attempt: attempt), folder: live.logs,
                status: ended ?? (one.record.status.isFinal ? one.record.status : nil), host: host)
        }
        guard detail.summary.state == .ended else { throw PageProblem(.notFound, "run \(id) has no steps yet") }
        let report = try await host.report(id)
        guard number <= report.steps.count else { throw PageProblem(.notFound, "run \(id) has no step \(number)") }
        let record = report.steps[number - 1]
        guard
            let attempt = wanted.map({ wanted in record.attempts.first { $0.number == wanted } })
                ?? record.attempts.last,
            let file = attempt.log?.file
        else { throw PageProblem(.notFound, "step \"\(record.name)\" of run \(id) has no log") }
        return LogSource(
            run: id, name: record.name, step: number, attempt: attempt.number, file: file, folder: nil,
            status: attempt.status, host: host)
    }

    /// A log as one view of it is made.
    private struct LogView {
        let source: LogSource
        let content: LogContent
        let map: LogMap
        var lines = LogLines()
        var html: HTML = ""

        /// Renders the lines from one on, else the start and the end.
        mutating func show(from wanted: Int?) async throws {
            if let wanted, map.lines > 0 {
                let first = min(max(wanted - PageViews.linesBefore, 1), map.lines)
                if first > 1 { try await leaveOut(from: 1, to: first) }
                let end = try await last(from: first, PageViews.middleLines, PageViews.logBytes)
                try await append(first, end)
                if end <= map.lines { try await leaveOut(from: end, to: map.lines + 1) }
            } else if map.size <= PageViews.logBytes, map.lines <= PageViews.logLines {
                try await append(1, map.lines + 1)
            } else {
                // A fifth of what is shown is the start.
                let head = try await last(from: 1, PageViews.logLines / 5, PageViews.logBytes / 5)
                try await append(1, head)
                let line = try await map.line(at: max(map.size - PageViews.logBytes * 4 / 5, 0), in: content)
                let tail = max(head, line + 1, map.lines + 1 - PageViews.logLines * 4 / 5)
                if tail > head { try await leaveOut(from: head, to: tail) }
                try await append(tail, map.lines + 1)
            }
            if let lost = map.lost { try await showEnd(behind: lost.end) }
        }

        /// The line behind the last that is shown: at least one is.
        private func last(from first: Int, _ count: Int, _ bytes: Int) async throws -> Int {
            let start = try await map.offset(ofLine: first, in: content)
            let line = try await map.line(at: min(start + bytes, map.size), in: content)
            let end = start + bytes >= map.size ? map.lines + 1 : line
            return min(max(end, first + 1), first + count, map.lines + 1)
        }

        private mutating func leaveOut(from first: Int, to end: Int) async throws {
            let offset = try await map.offset(ofLine: end, in: content)
            let link =
                " · "
                + Piece.link(
                    ["runs", "\(source.run)", "steps", "\(source.step)"],
                    query: [("attempt", "\(source.attempt)"), ("from", "\(first + PageViews.linesBefore)")], "show")
            lines.leaveOut(upTo: offset, lines: end - first, link: link, to: &html)
        }

        /// Appends lines, with their passages folded.
        private mutating func append(_ first: Int, _ end: Int) async throws {
            let start = try await map.offset(ofLine: first, in: content)
            let stop = try await map.offset(ofLine: end, in: content)
            append(try await read(start, stop), stop: stop, isEnd: end > map.lines)
        }

        private func read(_ start: Int, _ stop: Int) async throws -> [UInt8] {
            var bytes: [UInt8] = []
            while bytes.count < min(stop - start, PageViews.logBytes) {
                let wanted = min(stop - start, PageViews.logBytes) - bytes.count
                let piece = try await content.read(from: start + bytes.count, atMost: wanted)
                if piece.start != start + bytes.count || piece.bytes.isEmpty { break }
                bytes += piece.bytes
            }
            return bytes
        }

        private mutating func append(_ bytes: [UInt8], stop: Int, isEnd: Bool) {
            var bytes = bytes[...]
            // The start of a line that has no end yet comes with the rest of it.
            if source.isLive, isEnd { bytes = bytes[..<((bytes.lastIndex(of: 0x0A) ?? -1) + 1)] }
            guard !bytes.isEmpty else { return }
            let stop = source.isLive && isEnd ? lines.mark.offset + bytes.count : stop
            if bytes.last == 0x0A { bytes.removeLast() }
            let all = bytes.split(separator: 0x0A, omittingEmptySubsequences: false)
            let failure = map.failure.map { $0 - lines.mark.line }
            let important = all.indices.filter { LogWords.matter(all[$0]) } + [failure].compactMap { $0 }
            var place = 0
            for var fold in LogFolds.folds(of: all, important: important) {
                append(all, place..<fold.lines.lowerBound, failure)
                if source.isLive, isEnd, fold.lines.upperBound == all.count { fold.isOpen = true }
                let first = lines.mark.line
                html += "<details class=\"fold\"\(HTML(trusted: fold.isOpen ? " open" : ""))><summary>"
                html += fold.title.isEmpty ? "lines \(first) to \(first + fold.lines.count - 1)" : "\(fold.title)"
                html += " <span class=\"n\">\(Figures.count(fold.lines.count, "line"))</span></summary>"
                append(all, fold.lines, failure)
                html += "</details>"
                place = fold.lines.upperBound
            }
            append(all, place..<all.count, failure)
            lines.mark.offset = stop
        }

        private mutating func append(_ all: [ArraySlice<UInt8>], _ range: Range<Int>, _ failure: Int?) {
            for place in range { lines.append(line: all[place], isMarked: place == failure, to: &html) }
        }

        /// The newest lines of a log whose middle is gone while it is written.
        private mutating func showEnd(behind lost: Int) async throws {
            let size = content.size
            let start = max(lost, size - PageViews.logBytes / 4)
            let (first, bytes) = try await content.read(from: start)
            let (begin, end) = (
                bytes.firstIndex(of: 0x0A).map { $0 + 1 } ?? 0, bytes.lastIndex(of: 0x0A).map { $0 + 1 } ?? 0
            )
            lines.leaveOut(upTo: first + begin, lines: nil, to: &html)
            if begin < end { lines.append(bytes[begin..<end], to: &html) }
        }

        // MARK: The page

        func page(_ request: PageRequest) -> Page {
            let (id, step) = ("\(source.run)", "\(source.step)")
            var head: HTML = "<p>\(Piece.run(source.run)), \(source.name), attempt \(source.attempt)"
            if let status = source.status { head += " \(Piece.sign(status))" }
            head += " · \(Figures.count(map.lines, "line"))"
            if source.attempt > 1 {
                head +=
                    " · "
                    + Piece.link(
                        ["runs", id, "steps", step], query: [("attempt", "\(source.attempt - 1)")], "earlier attempt")
            }
            if let failure = map.failure {
                head += " · "
                head +=
                    "<a class=\"jump\" href=\"\(Piece.href(["runs", id, "steps", step], place(failure)))#L\(failure)\">"
                head += "first failure: line \(failure)</a>"
            }
            head += " · "
            head += Piece.link(["runs", id, "steps", step, "raw"], query: [("attempt", "\(source.attempt)")], "raw")
            head += "</p>\n" + search(request)
            var sections = [Page.Section("about", "", head)]
            if let text = request.value("q") { sections.append(.init("found", "Lines with \"\(text)\"", found())) }
            var log: HTML = "<div class=\"log\" id=\"log\" role=\"log\" tabindex=\"0\" aria-label=\"Log\" data-lines=\""
            log += "\(map.lines)\">\(html)</div>\n"
            sections.append(.init("lines", "", log))
            var page = Page(
                "Log of \(source.name), run \(source.run)", command: "pipectl logs \(id) \(source.name.shellQuoted)",
                sections)
            page.style = lines.style
            page.isLive = false
            // Lines in the middle of a log don't go on.
            page.logOffset = source.isLive && request.value("from") == nil ? lines.mark.description : nil
            return page
        }

        private func place(_ line: Int) -> [(String, String)] {
            [("attempt", "\(source.attempt)"), ("from", "\(line)")]
        }

        private func search(_ request: PageRequest) -> HTML {
            let path = Piece.href(["runs", "\(source.run)", "steps", "\(source.step)"])
            var form: HTML = "<form class=\"filter\" method=\"get\" action=\"\(path)\">"
            form += "<input type=\"hidden\" name=\"attempt\" value=\"\(source.attempt)\">"
            form += "<label>Find in this log <input type=\"search\" name=\"q\" id=\"log-q\" "
            form += "value=\"\(request.value("q") ?? "")\"></label> <button>Find</button>"
            form += "<output id=\"log-hits\" class=\"quiet\"></output></form>\n"
            return form
        }

        private func found() -> HTML {
            guard map.count > 0 else { return "<p class=\"quiet\">No line has it.</p>\n" }
            var text: HTML = "<p class=\"quiet\">\(Figures.count(map.count, "line"))"
            if map.count > map.found.count { text += ", the first \(map.found.count) here" }
            text += "</p>\n<ol class=\"rows\">\n"
            for line in map.found {
                let path = Piece.href(["runs", "\(source.run)", "steps", "\(source.step)"], place(line.number))
                text += "<li><a href=\"\(path)#L\(line.number)\">\(line.number)</a> "
                text += "<code>\(LogWords.plain(line.bytes))</code></li>\n"
            }
            return text + "</ol>\n"
        }
    }
}
