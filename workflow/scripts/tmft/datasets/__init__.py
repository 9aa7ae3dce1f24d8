"""From pinned downloads or own files to pair tables, text and tokens. Imports runtime and experiment."""
