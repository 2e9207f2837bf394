"""``python -m onemodel``: the command line."""

from onemodel.cli import main

if __name__ == "__main__":
    main()
