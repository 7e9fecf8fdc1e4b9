"""`python -m fsm.cli`, where the command `interlock` is not on the path."""

from . import main

main()
