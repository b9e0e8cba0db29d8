struct HTMLReport {
    let document: ReportDocument
    let options: RenderOptions

    func render() -> String { TextReport(document: document, options: options).render() }
}
