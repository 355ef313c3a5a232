"""Frozen values that every other part speaks in.  Nothing here touches the world."""
