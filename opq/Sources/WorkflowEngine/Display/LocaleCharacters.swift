/// The character set of the environment.
public enum LocaleCharacters {
    /// Whether the environment asks for ASCII only: no variable of the locale names UTF-8.
    ///
    /// The first of the variables that is set and not empty counts, as POSIX says.
    public static func isASCII(_ variable: (String) -> String?) -> Bool {
        let names = ["LC_ALL", "LC_CTYPE", "LANG"]
        let value = names.lazy.compactMap(variable).first { !$0.isEmpty } ?? ""
        let lowered = value.lowercased()
        return !lowered.contains("utf-8") && !lowered.contains("utf8")
    }
}
