// The module that macOS has in place of swift-system, for script/darwin-check.
@_exported public import SystemPackage
