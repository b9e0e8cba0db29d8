import PageMarkup
import Reports
import Results

/// What is around every page: the head, the navigation, the command line, and the search.
struct PageFrame: Sendable {
    /// The name of this machine.
    let host: String

    /// - Parameter nonce: What lets this answer's own style rules pass the policy.
    func render(
        _ page: Page, path: [String], query: [(String, String)], nonce: String, visitor: Visitor = .nobody
    ) -> HTML {
        var html: HTML = """
            <!DOCTYPE html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <meta name="color-scheme" content="light dark">
            <title>\(page.title) · pipectl on \(host)</title>
            <link rel="stylesheet" href="/assets/report.css">
            <link rel="stylesheet" href="/assets/site.css">
            <link rel="icon" href="/assets/icon.svg" type="image/svg+xml">
            <link rel="alternate" type="application/atom+xml" title="Runs" href="/feeds/runs.atom">

            """
        if !page.style.isEmpty { html += "<style nonce=\"\(nonce)\">\(HTML(trusted: page.style))</style>\n" }
        html += """
            <script src="/assets/site.js" defer></script>
            <script src="/assets/report.js" defer></script>
            </head>
            <body class="\(page.bodyClass)"
            """
        if page.isLive { html += " data-live=\"/live\(Piece.href(path, query))\"" }
        if let mark = page.logOffset {
            html += " data-log=\"\(Piece.href(path + ["follow"], query))\" data-from=\"\(mark)\""
        }
        html += """
            >
            <a class="skip" href="#main">Skip to the content</a>
            <header class="site"><nav aria-label="Site"><a class="home" href="/">pipectl</a>
            <a href="/runs">Runs</a> <a href="/tests">Tests</a> <a href="/tasks">Tasks</a> <a href="/releases">Releases</a> <a href="/queue">Queue</a> <a href="/machine">Machine</a></nav>
            <form role="search" method="get" action="/search"><input type="search" name="q" id="q" aria-label="Find a run, commit, change, branch or test" placeholder="Find ( / )"></form>
            <span id="live" class="quiet" role="status"></span>

            """
        html += Self.account(visitor)
        html += """
            </header>
            <main id="main">

            """
        if page.bodyClass.isEmpty { html += "<h1>\(page.title)</h1>\n" }
        for section in page.sections { html += section.rendered }
        html += """
            </main>
            <footer class="in quiet">On the command line: <code class="all">\(page.command)</code></footer>
            </body>
            </html>

            """
        return html
    }

    /// Who is logged in, and how to log in or out.
    private static func account(_ visitor: Visitor) -> HTML {
        guard let name = visitor.name else { return "<a class=\"account\" href=\"/login\">Log in</a>" }
        guard case .session = visitor.means else { return "<span class=\"account quiet\">\(name)</span>" }
        return PageForms.form(
            to: ["logout"], [], "<span class=\"quiet\">\(name)</span> <button class=\"plain\">Log out</button>")
    }

    /// The page of a request that went wrong.
    func render(_ problem: PageProblem, nonce: String, visitor: Visitor = .nobody) -> HTML {
        var page = Page(
            Self.title(problem.code), command: "pipectl status",
            [.init("problem", "", "<p>\(text: problem.reason)</p>\n")])
        page.isLive = false
        return render(page, path: [], query: [], nonce: nonce, visitor: visitor)
    }

    private static func title(_ code: PageProblem.Code) -> String {
        switch code {
        case .badRequest: "This request can't be read"
        case .unauthorized: "Log in first"
        case .forbidden: "Not allowed"
        case .notFound: "Not found"
        case .wrongMethod: "Wrong method"
        case .refused: "Refused"
        case .tooLarge: "Too large"
        case .tooMany: "Too many attempts"
        case .broken: "This page can't be shown now"
        }
    }
}
