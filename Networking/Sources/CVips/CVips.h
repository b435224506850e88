// Empty: Swift never reads libvips' headers, which are some hundred thousand lines.
