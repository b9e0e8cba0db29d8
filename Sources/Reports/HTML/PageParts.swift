package import Foundation
import Pipeline
package import Results

/// A report as parts of a page that somebody else puts together: see ``HTMLReport`` for one that stands alone.
package struct PageParts {
    /// The verdict and what was tested.
    package var banner: HTML
    /// What failed, and how the run compares.
    package var body: HTML
    package var timeline: HTML
    /// All tests, logs, artifacts, and how to repeat the run.
    package var rest: HTML
    /// Rules for the colours of this report's logs and the axis of its timeline, beside ``sheet``.
    package var style: String

    /// The style sheet of reports.
    package static var sheet: String { HTMLStyle.sheet }
    /// The script of reports.
    package static var script: String { HTMLScript.source }
}

extension ReportDocument {
    package func pageParts(_ options: RenderOptions) -> PageParts {
        var page = HTMLReport(document: self, options: options)
        return page.parts()
    }
}

/// The steps as bars on a common axis, of a run that is under way.
package enum TimelinePicture {
    /// - Parameters:
    ///   - steps: An attempt without an end is shown until `end`.
    ///   - link: What a step's name leads to, by its number from 1.
    package static func html(
        of steps: [StepRecord], from start: Date, to end: Date, link: @escaping (Int) -> HTML
    ) -> HTML {
        // Only the times and steps of a report are on the timeline.
        let report = Report(
            id: 0, repository: "", workflow: "", event: .manual, ref: "", branch: nil, head: "", verdict: .cancelled,
            reason: "", createdAt: start, startedAt: start, endedAt: end, steps: steps, reproduce: "",
            box: Report.Machine(host: "", system: "", pipectlVersion: ""))
        var options = RenderOptions()
        options.stepLimit = 60
        var page = HTMLReport(document: ReportDocument(report: report), options: options)
        page.timelineLinks = link
        return page.timeline()
    }
}
