import ForeignText
import Foundation
import PageMarkup

/// The fields of a form that a browser sends: `application/x-www-form-urlencoded`.
/// https://url.spec.whatwg.org/#application/x-www-form-urlencoded
struct PageForm: Sendable, Equatable {
    /// The longest body, in bytes, of forms and of calls of the API.
    static let mostBytes = 64 << 10
    static let mostFields = 200
    /// What the names of fields for parameters of a workflow begin with.
    static let parameterPrefix = "p."

    private(set) var fields: [String: String] = [:]
    /// What somebody chose in fields for files.
    private(set) var files: [MultipartForm.Part] = []

    init() {}

    /// - Throws: ``PageProblem`` for what no browser sends: a field twice, bytes that are no UTF-8, too many fields.
    init(_ body: [UInt8], type: String?) throws(PageProblem) {
        let name = type?.prefix { $0 != ";" }.trimmingCharacters(in: .whitespaces).lowercased()
        if name == "multipart/form-data", let type {
            try read(multipart: body, type: type)
            return
        }
        guard name == "application/x-www-form-urlencoded" else {
            throw PageProblem(.badRequest, "a form has the type application/x-www-form-urlencoded")
        }
        guard let text = String(validating: body, as: UTF8.self) else { throw Self.unreadable }
        let pairs = text.split(separator: "&")
        guard pairs.count <= Self.mostFields else {
            throw PageProblem(.badRequest, "a form has at most \(Self.mostFields) fields")
        }
        for pair in pairs {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map {
                $0.replacing("+", with: " ").removingPercentEncoding
            }
            guard parts.count == 2, let name = parts[0], let value = parts[1], !name.isEmpty, !value.contains("\0"),
                fields.updateValue(value, forKey: name) == nil
            else { throw Self.unreadable }
        }
    }

    private mutating func read(multipart body: [UInt8], type: String) throws(PageProblem) {
        let form: MultipartForm
        do { form = try MultipartForm(body, type: type) } catch { throw PageProblem(.badRequest, error.reason) }
        for part in form.parts {
            guard part.file == nil else {
                files.append(part)
                continue
            }
            guard part.bytes.count <= Self.mostBytes, let value = String(validating: part.bytes, as: UTF8.self),
                !value.contains("\0"), fields.updateValue(value, forKey: part.name) == nil
            else { throw Self.unreadable }
        }
    }

    private static let unreadable = PageProblem(.badRequest, "the form can't be read; load its page again")

    /// - Throws: ``PageProblem`` for a form that was not made for the visitor whose token is `wanted`.
    func check(token wanted: String) throws(PageProblem) {
        guard let given = self["token"], Secrecy.isEqual(given, wanted) else {
            throw PageProblem(.forbidden, "the form is not of this page, or too old; load the page again")
        }
    }

    /// The value of a field; nil where it is missing or empty.
    subscript(_ name: String) -> String? { fields[name].flatMap { $0.isEmpty ? nil : $0 } }

    /// The values of a workflow's parameters.
    var parameters: [String: String] {
        var values: [String: String] = [:]
        for (name, value) in fields where name.hasPrefix(Self.parameterPrefix) {
            values[String(name.dropFirst(Self.parameterPrefix.count))] = value
        }
        return values
    }
}

extension PageRequest {
    /// A path and a query of this site, encoded, as a `Location` has it.
    static func target(_ path: [String], _ query: [(String, String)] = []) -> String {
        let text = "/" + path.map(PageAddress.part).joined(separator: "/")
        return query.isEmpty
            ? text : text + "?" + query.map { "\(PageAddress.part($0))=\(PageAddress.part($1))" }.joined(separator: "&")
    }

    /// `text` as a path and query of this site, encoded anew: never another site. Nil where it is none.
    static func ownTarget(_ text: String) -> String? {
        guard let request = PageRequest(method: "GET", target: text, headers: [:]),
            request.path.allSatisfy({ !$0.isEmpty && !$0.contains("\\") })
        else { return nil }
        return target(request.path, request.query.sorted { $0.key < $1.key }.map { ($0.key, $0.value) })
    }
}

extension PageResponse {
    /// Sends the browser to another page, by GET.
    static func seeOther(_ target: String, cookies: [String] = []) -> PageResponse {
        var response = PageResponse(303, text: "see \(target)")
        response.headers["location"] = target
        response.cookies = cookies
        return response
    }
}
