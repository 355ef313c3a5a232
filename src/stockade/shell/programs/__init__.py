"""Descriptions of programs, one TOML file each; `stockade.shell.catalog` reads them."""
