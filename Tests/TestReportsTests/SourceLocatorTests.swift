import Testing

@testable import TestReports

@Suite struct SourceLocatorTests {
    @Test(arguments: [
        ("/path/File.swift:12:5: error: no", "/path/File.swift:12"),
        ("recorded an issue at Foo.swift:12:1: no", "Foo.swift:12"),
        ("Traceback\n  File \"a/x.py\", line 3, in f\n  File \"a/y z.py\", line 9, in g\nKeyError", "a/y z.py:9"),
        ("Error\n    at f (/w/node_modules/j/i.js:1:2)\n    at /w/src/x.js:4:2", "/w/src/x.js:4"),
        ("    x_test.go:12: got 3", "x_test.go:12"),
        ("\tat org.junit.Assert.fail(Assert.java:89)\n\tat a.Foo.b(Foo.java:12)", "Foo.java:12"),
        ("thread 'a' panicked at src/lib.rs:4:5:\nno", "src/lib.rs:4"),
        ("at /rustc/abc/library/core/src/panicking.rs:1:2\nat ./src/a.rs:3:4", "./src/a.rs:3"),
        ("   at A.B() in C:\\w\\F.cs:line 12", "C:\\w\\F.cs:12"), ("D:/w/f.cpp:7", "D:/w/f.cpp:7"),
        ("   bei A.B() in C:\\w\\X.cs:Zeile 18", "C:\\w\\X.cs:18"), ("   en A.B() en /w/X.cs:línea 363", "/w/X.cs:363"),
        ("   在 A.B() 在 /w/X.cs:行号 7", "/w/X.cs:7"), ("#0 /w/tests/x.phpt(78): f()", "/w/tests/x.phpt:78"),
        ("/w/src/Paren.php(123): g()", "/w/src/Paren.php:123"), ("src/a.ts(3,5): error TS1", "src/a.ts:3"),
        ("test/a_test.dart 13:9  main.<fn>", "test/a_test.dart:13"), ("tsconfig.json:13:3 - error", "tsconfig.json:13"),
        ("at A.B() in C:\\Program Files (x86)\\J\\X.cs:line 18", "C:\\Program Files (x86)\\J\\X.cs:18"),
        ("at A.B() in /my work/J/X.cs:line 18", "/my work/J/X.cs:18"),
        ("at C:\\w\\node_modules\\jest\\Spec.js:3:1\nat C:\\w\\src\\a.js:4:2", "C:\\w\\src\\a.js:4"),
        ("f(3) a.c (4) see b.py 12:30 at 10:30 {\"a.json\":3}", "-"),
        ("file:///w/x.mjs:3:1", "/w/x.mjs:3"), ("/w/T.php:5", "/w/T.php:5"),
        ("./spec/a_spec.rb:3:in `x'", "./spec/a_spec.rb:3"),
        ("http://host.com:443/ 10.0.0.1:80 12:30 a.b:1 .py:3 x.swift:0", "-"),
        ("at java.lang.Thread.run(Thread.java:1)", "-"),
    ])
    func placesAreFound(text: String, place: String) {
        let found = SourceLocator(suite: "").locate(in: [nil, text])
        #expect((found.map { "\($0.file):\($0.line)" } ?? "-") == place)
    }

    @Test func `the declared file wins`() {
        let text = "at h (/w/src/helper.ts:3:1)\nat t (/w/src/cart.test.ts:9:1)"
        let found = SourceLocator(declaredFile: "src/cart.test.ts", suite: "").locate(in: [text])
        #expect(found == .init(file: "src/cart.test.ts", line: 9))
    }
}
