import Results
import Testing

/// A forbidden action of a fixer, and the reason that pipectl must give.
struct FixHostility: Sendable, CustomTestStringConvertible {
    var name: String
    var script: String
    var outcome: FixOutcome?
    /// Part of the reason.
    var words: String
    var testDescription: String { name }

    static let good = "echo good > value.txt"

    static let cases = [
        FixHostility(name: "it changes nothing", script: "true", outcome: .noChange, words: "changed nothing"),
        FixHostility(
            name: "it changes what is ignored only",
            script: "echo x > cache/x; echo y > a.tmp; mkdir -p d/cache; echo z > d/cache/z",
            outcome: .noChange, words: "changed nothing"),
        FixHostility(
            name: "it changes what steps had left only", script: "echo x > out/left.txt; echo y > out/more.txt",
            outcome: .noChange, words: "untracked files)"),
        FixHostility(name: "it fails", script: "\(good); exit 3", outcome: .failed, words: "exit code 3"),
        FixHostility(name: "it never ends", script: "\(good); sleep 1000", outcome: .failed, words: "longer than 5 s"),
        FixHostility(
            name: "it says a gigabyte", script: "\(good); yes 0123456789 | head -c 1000000000", outcome: .failed,
            words: "output"),
        FixHostility(
            name: "it fills the disk", script: "\(good); head -c 400000000 /dev/urandom > cache/big; sleep 1000",
            outcome: .failed,
            words: "workspace"),
        FixHostility(
            name: "its own commits and hooks",
            script: """
                git config user.email a@b.c; git config user.name n; git config core.fsmonitor 'touch /tmp/ran; :'
                git config core.hooksPath "$PWD"; echo 'worse' > value.txt; git commit -qam x; git reset -q --soft HEAD~1
                printf '[core]\\n\\tworktree = /etc\\n' >> .git/config; rm -rf .git/objects; ln -s /etc .git/objects
                """, outcome: nil, words: ""),
        FixHostility(
            name: "a link to the box", script: "\(good); ln -s /etc/passwd link", outcome: .refused,
            words: "not a regular file"),
        FixHostility(
            name: "a link in a folder's place", script: "\(good); mv Tests T; ln -s T Tests", outcome: .refused,
            words: "\"Tests\": it is not a regular file"),
        FixHostility(
            name: "a file too large", script: "\(good); head -c 20000000 /dev/zero > big.bin", outcome: .refused,
            words: "16 MiB"),
        FixHostility(
            name: "a file of holes", script: "\(good); truncate -s 1T holes", outcome: .refused, words: "16 MiB"),
        FixHostility(
            name: "too many files",
            script: "\(good); i=0; while [ $i -lt 600 ]; do echo $i > f$i.txt; i=$((i + 1)); done", outcome: .refused,
            words: "more than 500 files"),
        FixHostility(
            name: "the definition", script: "\(good); sed -i s/check.sh/true/ workflows/x.swift", outcome: .refused,
            words: "may not change the workflows that test it"),
        FixHostility(
            name: "a definition as other systems spell it",
            script: "\(good); mkdir WorkFlows; echo x > WorkFlows/y.swift",
            outcome: .refused, words: "may not change the workflows that test it"),
        FixHostility(
            name: "submodules",
            script: "\(good); printf '[submodule \"x\"]\\n\\tpath = x\\n\\turl = ../x\\n' > .gitmodules",
            outcome: .refused, words: "submodules"),
        FixHostility(
            name: "a repository inside", script: "\(good); mkdir sub; cd sub; git init -q; echo x > y",
            outcome: .refused, words: "treat it as .git"),
        FixHostility(
            name: "another .git", script: "\(good); mkdir .GIT; echo x > .GIT/config", outcome: .refused,
            words: "treat it as .git"),
        FixHostility(
            name: ".git with a space", script: "\(good); mkdir '.git '; echo x > '.git /config'", outcome: .refused,
            words: "treat it as .git"),
        FixHostility(
            name: "its short name", script: "\(good); mkdir sub; echo x > sub/GIT~1", outcome: .refused,
            words: "treat it as .git"),
        FixHostility(
            name: "a stream of it", script: "\(good); echo x > '.git::$INDEX_ALLOCATION'", outcome: .refused,
            words: "treat it as .git"),
        FixHostility(
            name: "hidden letters",
            script:
                "\(good); mkdir \"$(printf '.g\\342\\200\\214it')\"; echo x > \"$(printf '.g\\342\\200\\214it')/config\"",
            outcome: .refused, words: "treat it as .git"),
        FixHostility(
            name: "a line feed in a name", script: "\(good); echo x > \"$(printf 'a\\nb')\"", outcome: .refused,
            words: "control character"),
        FixHostility(
            name: "an escape in a name", script: "\(good); echo x > \"$(printf 'a\\033[2Jb')\"", outcome: .refused,
            words: "control character"),
        FixHostility(
            name: "no text in a name", script: "\(good); echo x > \"$(printf 'a\\377b')\"", outcome: .refused,
            words: "not UTF-8"),
        FixHostility(
            name: "a backslash in a name", script: "\(good); echo x > '..\\x'", outcome: .refused, words: "backslash"),
        FixHostility(
            name: "it removes the test", script: "\(good); rm Tests/SumTests.swift", outcome: .weakensTests,
            words: "weakens tests"),
        FixHostility(
            name: "it skips the test",
            script: "\(good); sed -i 's/@Test func/@Test(.disabled()) func/' Tests/SumTests.swift",
            outcome: .weakensTests, words: "weakens tests"),
        FixHostility(
            name: "it asserts less", script: "\(good); sed -i 's/1 + 1 == 2/true/' Tests/SumTests.swift",
            outcome: .weakensTests, words: "weakens tests"),
    ]
}
