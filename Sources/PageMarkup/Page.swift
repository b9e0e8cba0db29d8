package import Reports

/// A page: sections that the server renders, and that a browser replaces one by one as they change.
package struct Page: Sendable {
    package struct Section: Sendable {
        /// Unique on the page; the element's id.
        package var id: String
        /// Above the section; empty for none.
        package var title: String
        package var html: HTML
    }

    package var title: String
    /// The same on the command line.
    package var command: String
    package var sections: [Section]
    /// Whether sections change while somebody looks.
    package var isLive = true
    /// Rules of this page alone.
    package var style = ""
    /// Class of the body, for the colour of a verdict.
    package var bodyClass = ""
    /// Whether what it showed live is over: a browser loads the page that is there now.
    package var isOver = false
    /// How far a log is shown that goes on; nil for other pages.
    package var logOffset: String?

    package init(_ title: String, command: String, _ sections: [Section]) {
        (self.title, self.command, self.sections) = (title, command, sections)
    }
}

extension Page.Section {
    package init(_ id: String, _ title: String = "", _ html: HTML) { self.init(id: id, title: title, html: html) }
}

extension Page.Section {
    /// The element that a browser replaces.
    package var rendered: HTML {
        var whole: HTML = "<section id=\"\(id)\">"
        if !title.isEmpty { whole += "<h2>\(title)</h2>\n" }
        whole += html
        whole += "</section>\n"
        return whole
    }
}
