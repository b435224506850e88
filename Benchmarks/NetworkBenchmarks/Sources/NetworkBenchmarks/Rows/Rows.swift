extension Row {
    static func all(_ scale: Scale) -> [Row] {
        [smallRequests(scale), bigDownload(scale), flatMemory(scale), oneAddress(scale), thumbnails(scale)]
    }
}
