"""The server behind `python -m play web`: games in a browser, and views of training.

One process serves one person on this machine: it listens on 127.0.0.1 only. Only the server knows
the rules of the games; the page in the browser draws boards and sends moves. The extra `web`
(Starlette and uvicorn) must be installed.
"""
