"""The command line.  No decision is made here."""
