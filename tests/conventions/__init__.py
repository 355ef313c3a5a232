"""What holds of the repository as a whole: layers, sizes, and that the documentation says what is so."""
