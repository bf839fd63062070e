"""Protocols in which other programs talk to our engines: Hub, UBGI, GNU Backgammon's, OpenSpiel."""
