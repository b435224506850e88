import HTTPCaching
import Operations
import OperationsNetworking

// Step 4 of 5: pixels.
extension ImagePipeline {
    /// Decodes the variants that wait for an original, which has arrived.
    func isPresent(_ original: Int, _ file: Original) {
        let (variants, gone, old) = state.withLock { state -> ([Int], [DecodedImage], OriginalWork?) in
            guard let key = state.board.key(ofOriginal: original) else { return ([], [], nil) }
            let old = state.originals[original]
            state.originals[original]?.original = file
            // `file` contains the body, so that the request is no longer needed.
            state.originals[original]?.http = nil
            // The image may have changed, so that the other sizes in memory are out of date.
            let isNew = key.policy.refreshes && file.kept.source == .network
            let gone = isNew ? state.memory.remove(key.name) : []
            return (state.board.isPresent(original, stored: file.kept.isStored), gone, old)
        }
        withExtendedLifetime((gone, old)) {}
        for variant in variants { decode(variant, file) }
    }

    func decode(_ variant: Int, of original: Int) {
        guard let file = state.withLock({ $0.originals[original]?.original }) else { return }
        decode(variant, file)
    }

    private func decode(_ variant: Int, _ file: Original) {
        guard let key = state.withLock({ $0.board.key(ofVariant: variant) }) else { return }
        let decoding = DecodeOperation(configuration.decoder, file, key.decoding) { result in
            self.decoded(variant, result, file)
        }
        // The queue also runs the block for an operation that is cancelled before its start.
        decoding.completionBlock = { [byteCount = file.byteCount] in self.addToBacklog(-byteCount) }
        guard keep(decoding, for: variant) else { return }
        addToBacklog(file.byteCount)
        applyDemand(variant: variant)
        decodings.addOperation(decoding)
    }

    private func decoded(_ variant: Int, _ result: Result<DecodedImage, any Error>, _ file: Original) {
        do {
            end(variant, with: try result.get(), from: file)
        } catch {
            let reason = (error as? ImageError).map { ImageLoadError.Reason.image($0) } ?? .decoder(error)
            guard file.kept.isStored, reason.isDamage else { return fail(variant: variant, reason, file) }
            replace(variant, reason, file)
        }
    }

    /// Removes an unusable file from disk and loads it again, once for all variants that detect the damage.
    private func replace(_ variant: Int, _ reason: ImageLoadError.Reason, _ file: Original) {
        guard let key = state.withLock({ $0.board.key(ofVariant: variant) })?.original else { return }
        guard key.policy.usesNetwork else { return fail(variant: variant, reason, file) }
        let (need, writing) = state.withLock { state -> (ImageBoard.Need, Writing?) in
            let need = state.board.isDamaged(variant)
            guard case .load = need else { return (need, nil) }
            return (need, register(in: &state, key.name) { await $0.removeData(forKey: key.name) })
        }
        if let writing { enqueue(writing) }
        switch need {
        case .load(let original): transfer(original, stale: nil)
        case .decode(let original): decode(variant, of: original)
        case .gone, .seek, .waits: break
        }
    }
}
