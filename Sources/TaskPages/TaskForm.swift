package import PageMarkup
import Reports

/// The form of a new task, for a phone as well.
package struct TaskForm {
    let repositories: [String]
    let repository: String?
    let reader: PageReader

    /// - Parameters:
    ///   - repositories: The names of the watched ones.
    ///   - repository: The one that is chosen first.
    package init(_ repositories: [String], chosen repository: String?, for reader: PageReader) {
        (self.repositories, self.repository, self.reader) = (repositories, repository, reader)
    }

    package var page: Page {
        var page = Page(
            "New task", command: "pipectl task add '…' --crash REPORT",
            [.init("form", "", reader == .operator ? form : refusal)])
        // A page that is replaced would lose what somebody writes.
        page.isLive = false
        return page
    }

    private var refusal: HTML {
        "<p class=\"quiet\"><a href=\"/login\">Log in</a> to hand over work: <code>pipectl pages</code> on the build box.</p>\n"
    }

    private var form: HTML {
        var content: HTML = ""
        if repositories.count == 1 {
            content += "<input type=\"hidden\" name=\"repository\" value=\"\(repositories[0])\">\n"
        } else {
            content += "<p><label>Repository <select name=\"repository\" required>"
            if repository == nil { content += "<option value=\"\">choose</option>" }
            for name in repositories.prefix(200) {
                let chosen: HTML = name == repository ? " selected" : ""
                content += "<option value=\"\(name)\"\(chosen)>\(name)</option>"
            }
            content += "</select></label></p>\n"
        }
        content += """
            <p><label>What is to be done <textarea name="text" rows="6" maxlength="60000"></textarea></label></p>
            <p><label>Title, if the first line is none <input name="title" maxlength="200"></label></p>
            <p><label>Crash report, at most 4 MiB <input type="file" name="crash"></label></p>
            <p><label>Other files, at most 16 and 8 MiB together <input type="file" name="files" multiple></label></p>
            <p><button>Hand it over</button></p>

            """
        return PageForms.upload(to: ["tasks"], "<div class=\"entry\">\(content)</div>")
    }
}
