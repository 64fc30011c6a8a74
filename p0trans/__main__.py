"""`python -m p0trans` is the command line."""

from __future__ import annotations

from p0trans.cli import main

if __name__ == "__main__":
    main()
