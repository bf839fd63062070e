"""Protocols in which other programs talk to our engines: Hub, GNU Backgammon's, OpenSpiel."""
