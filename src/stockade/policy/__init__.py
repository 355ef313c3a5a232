"""Rules, modes, floor, guards and grants: one pure function from an action to a decision."""
