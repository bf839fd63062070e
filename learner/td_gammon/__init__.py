"""Networks for games with dice: TD(lambda) and exact backups in native code."""
