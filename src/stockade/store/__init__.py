"""What Stockade keeps: the audit log, the panic switch.  Everything private to its owner."""
