/// The program that shows a store on a page. It belongs to the package swift-operations-dashboard, which depends on this one, so this
/// package cannot contain it.
public enum PageProgram {
    /// The name of its file.
    public static let name = "durable-serve"

    /// Returns the paths at which the program may be, the first one first: beside this program, then in the folders of `PATH`. A
    /// relative folder is ignored, because the current folder may belong to another user.
    ///
    /// - Parameters:
    ///   - own: The absolute path of this program; nil if it is unknown.
    ///   - path: The value of `PATH`; nil if it is not set.
    public static func paths(besides own: String?, path: String?) -> [String] {
        let beside = own.flatMap { own in own.lastIndex(of: "/").map { String(own[..<$0]) } }
        let folders = [beside].compactMap(\.self) + (path ?? "").split(separator: ":").map(String.init)
        return folders.filter { $0.isEmpty || $0.hasPrefix("/") }.map { $0 + "/" + name }
    }

    /// Returns the arguments of the program, without the store, which the variable `DURABLE_STORE` has: other users can see arguments.
    public static func arguments(port: Int, steers: Bool, showsInputs: Bool) -> [String] {
        [name, "--port", String(port)] + (steers ? ["--steer"] : []) + (showsInputs ? ["--inputs"] : [])
    }
}
