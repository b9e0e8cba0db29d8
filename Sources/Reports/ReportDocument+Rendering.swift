extension ReportDocument {
    /// The report in a format, with a line feed at its end.
    public func render(_ format: ReportFormat, options: RenderOptions = RenderOptions()) -> String {
        switch format {
        case .text: TextReport(document: self, options: options).render()
        case .markdown: MarkdownReport(document: self, options: options).render()
        case .html: HTMLReport(document: self, options: options).render()
        case .json: renderJSON()
        case .junit: JUnitReport(document: self).render()
        }
    }
}
