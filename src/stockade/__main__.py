"""`python -m stockade`."""

from stockade.cli.main import main

raise SystemExit(main())
