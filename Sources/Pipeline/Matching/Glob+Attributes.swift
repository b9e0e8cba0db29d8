extension Glob {
    /// Whether `path` is a `.gitattributes` file that can change how files that match the pattern are checked out.
    ///
    /// Git reads this file in every folder from the root to the file (gitattributes(5)). It sets line endings, filters
    /// and encodings. Upper and lower case are not distinguished, because file systems may ignore case.
    package func isCheckedOut(by path: String) -> Bool {
        let name = ".gitattributes"
        let lowercased = path.lowercased()
        guard lowercased == name || lowercased.hasSuffix("/\(name)") else { return false }
        let folder = String(path.dropLast(name.count + 1))
        return folder.isEmpty || canMatch(below: folder)
    }
}
