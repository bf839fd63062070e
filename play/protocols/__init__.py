"""Protocols of other programs: Hub, UBGI, GNU Backgammon's socket, OpenSpiel."""
