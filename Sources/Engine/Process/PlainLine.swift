/// Lines that mean the same with and without a shell: a program and its words, and nothing that a shell would expand,
/// split, redirect or do by itself.
///
/// Such a line is started as `make` does it, without `/bin/sh` in between: many shells fork for it, which costs a step
/// more than all that pipectl does for it.
enum PlainLine {
    /// The program and its arguments, or nil where a shell is needed to tell.
    static func words(of line: String) -> [String]? {
        var words: [String] = []
        for word in line.utf8.split(whereSeparator: { $0 == blank || $0 == tab }) {
            guard word.allSatisfy({ isPlain($0) }) else { return nil }
            words.append(String(decoding: word, as: UTF8.self))
        }
        // An assignment, or a job of an interactive shell.
        guard let program = words.first, !program.utf8.contains(where: { $0 == equals || $0 == percent }) else {
            return nil
        }
        // Some shells put the path of a program for "=program".
        guard !words.contains(where: { $0.utf8.first == equals }) else { return nil }
        return ownWords.contains(program) ? nil : words
    }

    private static let blank = UInt8(ascii: " ")
    private static let tab = UInt8(ascii: "\t")
    private static let equals = UInt8(ascii: "=")
    private static let percent = UInt8(ascii: "%")

    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"), UInt8(ascii: "."),
            UInt8(ascii: "/"), UInt8(ascii: "+"), UInt8(ascii: ","), UInt8(ascii: ":"), UInt8(ascii: "@"), equals,
            percent:
            true
        default: false
        }
    }

    /// What `sh` of some system does by itself, or reads as its grammar: POSIX.1-2024, 2.4, 2.9.1 and 2.15; dash, bash and
    /// zsh have the others.
    private static let ownWords: Set<String> = [
        ".", ":", "alias", "autoload", "bg", "bind", "break", "builtin", "bye", "caller", "case", "cd", "chdir",
        "command",
        "compgen", "complete", "compopt", "continue", "coproc", "declare", "dirs", "disable", "disown", "do", "done",
        "echo",
        "echotc", "elif", "else", "emulate", "enable", "end", "esac", "eval", "exec", "exit", "export", "false", "fc",
        "fg",
        "fi", "float", "for", "foreach", "function", "functions", "getln", "getopts", "hash", "help", "history", "if",
        "in",
        "integer", "jobs", "kill", "let", "limit", "local", "log", "logout", "mapfile", "namespace", "newgrp",
        "nocorrect",
        "noglob", "popd", "print", "printf", "pushd", "pushln", "pwd", "read", "readarray", "readonly", "rehash",
        "repeat",
        "return", "sched", "select", "set", "setopt", "shift", "shopt", "source", "suspend", "test", "then", "time",
        "times",
        "trap", "true", "ttyctl", "type", "typeset", "ulimit", "umask", "unalias", "unfunction", "unhash", "unlimit",
        "unset", "unsetopt", "until", "vared", "wait", "whence", "where", "which", "while", "zcompile", "zle",
        "zmodload",
    ]
}
