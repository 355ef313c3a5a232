"""The life of a call: gather what the core must know, decide, and never let an error loosen anything."""
