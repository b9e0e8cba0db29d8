import ForeignText
import Foundation
import Pipeline
import Results
import TestBasics

@testable import Pages

/// What browsers send to the pages, and the source that the pages look into.
extension FuzzTarget {
    static let pages: [FuzzTarget] = [
        .pure(
            "page-form", words: ["&", "=", "+", "%", "%2F", "%5C", "%00", "%FF", "to=", "token=", "p.", "//", "\\"],
            limit: 64 << 10,
            corpus: {
                Corpus.texts(
                    "token=abc&to=%2Fruns%2F7%3Fa%3Db", "to=//evil.example", "to=/%5Cevil.example&p.level=3",
                    "a=1&a=2", "reason=not+on+a+Friday&step=ship%20it", "to=/runs/%2e%2e/x?q=%C3%A9")
            },
            check: checkForm),
        .pure(
            "upload-form",
            words: [
                "--x", "--x--", "\r\n", "\r\n\r\n", "Content-Disposition: form-data; ", "name=\"", "filename=\"", "\"",
                ";",
                "%22", "../", "\\", "\0",
            ], limit: 1 << 20,
            corpus: {
                Corpus.texts(
                    "--x\r\nContent-Disposition: form-data; name=\"token\"\r\n\r\nabc\r\n--x--\r\n",
                    "--x\r\nContent-Disposition: form-data; name=\"crash\"; filename=\"C:\\a.ips\"\r\nContent-Type: text/plain\r\n\r\n{}\r\n--x\r\nContent-Disposition: form-data; name=\"files\"; filename=\"\"\r\n\r\n\r\n--x--\r\n"
                )
            },
            check: checkUpload),
        .pure(
            "workflow-source",
            words: [
                "Workflow(\"test\"", ") {", "}", "\"\"\"", "#\"", "\"#", "\\(", "//", "/*", "*/", ".timeout(", "\n",
                "####",
            ], limit: 256 << 10,
            corpus: {
                Corpus.texts(
                    "let test = Workflow(\"test\", on: .push) {\n    Step(\"a\", run: \"echo \\\"}\\\"\")\n}\n.timeout(.minutes(5))\n",
                    "let test = Workflow(\"test\") { Step(\"a\", run: #\"echo \"}\"\"#) }\n\n// Workflow(\"test\")\n",
                    "let a = \"\"\"\n    \\(Workflow(\"test\") { })\n    \"\"\"\n")
            },
            check: checkSource),
    ]

    /// A form has few fields, and leads to no other site.
    @Sendable private static func checkForm(_ bytes: [UInt8], _ random: inout SplitMix64) throws {
        let type = "application/x-www-form-urlencoded"
        guard let form = try? PageForm(bytes, type: type) else { return }
        try demand(form.fields.count <= PageForm.mostFields, "\(form.fields.count) fields")
        try demand(!form.fields.values.contains { $0.contains("\0") }, "a field with a zero")
        guard let target = form["to"].flatMap(PageRequest.ownTarget) else { return }
        try demand(target.hasPrefix("/") && !target.hasPrefix("//"), "it leads to \(target)")
        let isPlain = target.utf8.allSatisfy { (0x21..<0x7F).contains($0) && $0 != UInt8(ascii: "\\") }
        try demand(isPlain, "it leads to \(target.debugDescription)")
        if target.utf8.count <= 4_000 {
            try demand(PageRequest.ownTarget(target) == target, "\(target) leads elsewhere the second time")
        }
    }

    /// A form with files has few of them, and their names have no folder.
    @Sendable private static func checkUpload(_ bytes: [UInt8], _ random: inout SplitMix64) throws {
        guard let form = try? PageForm(bytes, type: "multipart/form-data; boundary=x") else { return }
        try demand(form.fields.count + form.files.count <= 40, "\(form.fields.count + form.files.count) parts")
        try demand(!form.fields.values.contains { $0.contains("\0") }, "a field with a zero")
        let size = form.files.reduce(0) { $0 + $1.bytes.count } + form.fields.values.reduce(0) { $0 + $1.utf8.count }
        try demand(size < bytes.count, "\(size) bytes of \(bytes.count)")
        for file in form.handed("files") + form.handed("crash") {
            let isPlain = !file.name.contains("/") && !file.name.contains("\\") && ![".", ".."].contains(file.name)
            try demand(isPlain, "a file named \(file.name.debugDescription)")
        }
    }

    /// A patch adds one line to the source and changes none.
    @Sendable private static func checkSource(_ bytes: [UInt8], _ random: inout SplitMix64) throws {
        let source = String(decoding: bytes, as: UTF8.self)
        let quarantine = Quarantine(test: source, until: "2026-12-31", reason: "")
        let patch = QuarantinePatch(quarantine, workflow: "test")
        try demand(patch.line.utf8.allSatisfy { (0x20..<0x7F).contains($0) }, "the line has more than ASCII")
        guard let text = patch.text(in: ["workflows/main.swift": source]) else { return }
        let lines = text.utf8.split(separator: 0x0A, omittingEmptySubsequences: false).dropFirst(4)
        let added = lines.filter { $0.first == UInt8(ascii: "+") }
        try demand(
            added.count == 1 && String(decoding: added[0], as: UTF8.self).hasSuffix(patch.line),
            "it adds \(added.count) lines")
        for line in lines where !line.isEmpty && line.first != UInt8(ascii: "+") {
            try demand(line.first == UInt8(ascii: " "), "a line of the patch is no context")
        }
    }
}
