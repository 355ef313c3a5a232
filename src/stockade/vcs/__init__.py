"""Git as Stockade sees it: its files as data, never obeyed."""
