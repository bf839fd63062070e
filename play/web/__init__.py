"""The server behind `python -m play web`: tables in a browser, and what was learned made visible.

One process on this machine serves one person: it listens on 127.0.0.1 only. The rules of the games
are here alone; what runs in the browser draws and sends moves. Needs the extra `web` (Starlette and
uvicorn).
"""
