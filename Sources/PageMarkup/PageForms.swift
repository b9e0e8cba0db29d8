package import Reports

/// For whom a page is made. Those of one kind see the same page, so that a live one is made once for all of them.
package enum PageReader: Int, Sendable {
    /// Somebody who has not logged in.
    case stranger
    /// Somebody who has, and may read only, or acts by the API.
    case known
    /// Somebody who may act with forms.
    case `operator`
}

/// Forms that act. They contain ``FormMark``: whoever gets the page has a token of their own there.
package enum PageForms {
    /// A form with one button.
    ///
    /// - Parameter fields: What it sends besides, by their names.
    package static func button(_ title: String, to path: [String], _ fields: [(String, String)] = []) -> HTML {
        form(to: path, fields, "<button>\(title)</button>")
    }

    /// A form with one button and a field for the reason.
    package static func rejection(_ title: String, to path: [String], _ fields: [(String, String)] = []) -> HTML {
        form(
            to: path, fields,
            "<input name=\"reason\" aria-label=\"Why\" placeholder=\"Why\" maxlength=\"1000\"> <button>\(title)</button>"
        )
    }

    /// A form that acts.
    package static func form(to path: [String], _ fields: [(String, String)], _ content: HTML) -> HTML {
        "<form method=\"post\" action=\"\(Piece.href(path))\">\(hidden(fields))\(content)</form>"
    }

    /// A form that acts and sends files.
    package static func upload(to path: [String], _ content: HTML) -> HTML {
        "<form method=\"post\" enctype=\"multipart/form-data\" action=\"\(Piece.href(path))\">\(hidden([]))\(content)</form>"
    }

    private static func hidden(_ fields: [(String, String)]) -> HTML {
        var html: HTML = ""
        for (name, value) in [("token", FormMark.text)] + fields {
            html += "<input type=\"hidden\" name=\"\(name)\" value=\"\(value)\">"
        }
        return html
    }
}

/// What stands in forms for the token of whoever gets the page. Nobody can know it, so no foreign text contains it.
package enum FormMark {
    package static let text =
        "form-" + (0..<4).map { _ in String(UInt64.random(in: .min ... .max), radix: 16) }.joined()

    /// The bytes with `token` instead of each mark.
    package static func replaced(in bytes: [UInt8], by token: String) -> [UInt8] {
        let mark = Array(text.utf8)
        var result: [UInt8] = []
        var rest = bytes[...]
        while let place = rest.firstRange(of: mark) {
            result += rest[..<place.lowerBound]
            result += token.utf8
            rest = rest[place.upperBound...]
        }
        return result.isEmpty ? bytes : result + rest
    }
}
