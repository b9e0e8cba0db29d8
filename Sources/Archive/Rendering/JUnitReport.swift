struct JUnitReport {
    let document: ReportDocument

    func render() -> String { TextReport(document: document, options: RenderOptions()).render() }
}
