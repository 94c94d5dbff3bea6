"""Forms of the console: fields, options, parsing and signing."""
