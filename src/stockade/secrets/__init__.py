"""What is a secret: names of files and variables, shapes of values, redaction."""
