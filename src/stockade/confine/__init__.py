"""How a command that is allowed runs.  The kernel sandbox comes here; today it is the environment."""
