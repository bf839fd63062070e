// @ts-check
// Requests to the server, and its events.

/** A request that the server refused, with its status; status 0 if it could not be reached. */
export class Refusal extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

async function ask(method, path, content) {
  let response;
  try {
    response = await fetch(path, {
      method,
      headers: content === undefined ? {} : { "content-type": "application/json" },
      body: content === undefined ? undefined : JSON.stringify(content),
    });
  } catch {
    throw new Refusal(0, "the server does not answer");
  }
  /** @type {any} */
  let answer = {};
  try {
    answer = await response.json();
  } catch {
    answer = { error: `the server answered ${response.status}` };
  }
  if (!response.ok) throw new Refusal(response.status, answer.error || String(response.status));
  return answer;
}

export const get = (path) => ask("GET", path);
export const post = (path, content = {}) => ask("POST", path, content);
export const remove = (path) => ask("DELETE", path);

/** Wait for a promise; meanwhile `show` is called with {text} if the server compiles. */
export async function whileCompiling(promise, show) {
  const timer = setInterval(async () => {
    const now = await get("/api/compiling").catch(() => ({}));
    if (waiting && now.text) show(now);
  }, 500);
  let waiting = true;
  try {
    return await promise;
  } finally {
    waiting = false;
    clearInterval(timer);
  }
}

/** Post a request whose answer comes as lines of JSON; `each` is called with every one of them. */
export async function lines(path, content, signal, each) {
  let response;
  try {
    response = await fetch(path, {
      method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(content), signal,
    });
  } catch {
    throw new Refusal(0, "the server does not answer");
  }
  if (!response.ok) throw new Refusal(response.status, (await response.json()).error);
  const reader = response.body.getReader();
  const decoder = new TextDecoder();
  let text = "";
  for (;;) {
    const { done, value } = await reader.read();
    text += decoder.decode(value, { stream: !done });
    const whole = text.split("\n");
    text = whole.pop();
    for (const line of whole) each(JSON.parse(line));
    if (done) return;
  }
}

/**
 * The events of a table. `on` has a function for each kind of event, and `lost` and `found` for the
 * connection itself. A hidden page closes its stream, because a browser allows few connections to
 * a server and its tabs share them.
 */
export class Stream {
  constructor(id, on) {
    this.id = id;
    this.on = on;
    this.closed = false;
    this.lost = false;
    this.visibility = () => (document.hidden ? this.pause() : this.open());
    document.addEventListener("visibilitychange", this.visibility);
    this.open();
  }

  open() {
    if (this.closed || this.source) return;
    const source = new EventSource(`/api/tables/${this.id}/events`);
    this.source = source;
    source.onopen = () => {
      if (this.lost) this.on.found();
      this.lost = false;
    };
    source.onerror = () => {
      if (this.closed || this.source !== source) return;
      if (!this.lost) this.on.lost();
      this.lost = true;
      if (source.readyState === EventSource.CLOSED) {
        // The server gave another answer: it was restarted, or the table has ended.
        this.source = null;
        this.again();
      }
    };
    for (const kind of ["view", "thought", "analysis", "problem", "ended"]) {
      source.addEventListener(kind, (event) => {
        this.on[kind]?.(JSON.parse(event.data));
      });
    }
  }

  async again() {
    try {
      await get(`/api/tables/${this.id}`);
    } catch (error) {
      if (error.status === 404) {
        this.on.gone?.();
        return;
      }
    }
    setTimeout(() => this.open(), 1000);
  }

  pause() {
    this.source?.close();
    this.source = null;
  }

  close() {
    this.closed = true;
    this.pause();
    document.removeEventListener("visibilitychange", this.visibility);
  }
}
