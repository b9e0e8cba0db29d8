import Results

/// The version that commands and reports show.
enum Version {
    static let text = Report.Machine.version
}
