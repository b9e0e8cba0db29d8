/// The apps among a repository's projects.
struct SeedApps {
    /// The app that gets workflows of its own; nil if there is none, or several.
    let only: XcodeSeed?
    /// The folders of apps that are not set up.
    private(set) var left: [String] = []
    /// What a person should know, a sentence each.
    private(set) var notes: [String]

    init(_ recipes: [SeedRecipe]) {
        let apps = recipes.compactMap(\.xcode)
        notes = apps.flatMap(\.notes)
        guard apps.count > 1 else {
            only = apps.first
            return
        }
        // Flutter and React Native have a project for each system.
        let phones = apps.filter { $0.preparation.framework != nil && $0.isForPhones }
        if phones.count == 1, apps.allSatisfy({ $0.preparation.framework == phones[0].preparation.framework }) {
            only = phones[0]
            left = apps.map(\.folder).filter { $0 != phones[0].folder }
            notes =
                phones[0].notes
                + left.map { "\($0)/: not set up; write workflows for it like those for \(phones[0].folder)/" }
            return
        }
        only = nil
        notes.append(
            "\(apps.map { $0.folder.isEmpty ? $0.container : "\($0.folder)/" }.joined(separator: ", ")): there are several "
                + "apps, so they are tested only; write a release for each (docs/guide/app-store.md)")
    }
}
