/// A report as parts of a page that somebody else puts together: see ``HTMLReport`` for one that stands alone.
package struct PageParts {
    /// The verdict and what was tested.
    package var banner: HTML
    package var body: HTML
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
