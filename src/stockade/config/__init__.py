"""Configuration: settings, layers, provenance, trust.  Reads files; decides nothing."""
