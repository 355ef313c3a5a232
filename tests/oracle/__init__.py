"""The execution oracle: real bash on stub programs tells which commands a line really runs."""
