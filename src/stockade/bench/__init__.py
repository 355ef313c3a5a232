"""A scoreboard for guards: any program that answers a hook, over the same rows, in one table."""
