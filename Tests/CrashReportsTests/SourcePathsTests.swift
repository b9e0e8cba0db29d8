import CrashReports
import Testing

struct SourcePathsTests {
    private let paths = SourcePaths([
        "Sources/Shop/Cart.swift", "Sources/Shop/Models/Item.swift", "Sources/Admin/Models/Item.swift", "main.c",
        "Tests/ShopTests/Cart Tests.swift", "App/Views/Shelf.swift",
    ])

    @Test(
        arguments: [
            ("/home/ci/build/shop/Sources/Shop/Cart.swift", "Sources/Shop/Cart.swift"),
            ("C:\\agent\\shop\\Sources\\Shop\\Cart.swift", "Sources/Shop/Cart.swift"),
            ("/x/Sources/Admin/Models/Item.swift", "Sources/Admin/Models/Item.swift"),
            ("/x/Shop/Models/../Models/Item.swift", "Sources/Shop/Models/Item.swift"),
            ("../../Sources/Shop/./Cart.swift", "Sources/Shop/Cart.swift"),
            ("Cart.swift", "Sources/Shop/Cart.swift"),
            // A module need not be a folder.
            ("Catalogue/Shelf.swift", "App/Views/Shelf.swift"),
            ("/build/main.c", "main.c"),
            ("/x/ShopTests/Cart Tests.swift", "Tests/ShopTests/Cart Tests.swift"),
        ])
    func theLongestEnding(_ path: String, _ expected: String) {
        #expect(paths.path(of: path) == expected)
    }

    @Test(
        arguments: [
            "Item.swift", "/x/Models/Item.swift", "/usr/include/vector", "/other/project/Cart.swift", "", "/", "..",
            "Sources/Shop",
            "/x/cart.swift",
        ])
    func nothingIsGuessed(_ path: String) {
        #expect(paths.path(of: path) == nil)
    }
}
