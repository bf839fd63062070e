// @ts-check
// A row of tabs, of which one panel is shown at a time.

import { h } from "./dom.js";

export class Tabs {
  /** `panels` have a name, a title and an element; `open` is called with the name that was chosen. */
  constructor(panels, open) {
    this.panels = panels;
    this.open = open;
    this.element = h(
      "div",
      { class: "tabs", role: "tablist", "aria-label": "About this game", onkeydown: (e) => this.key(e) },
      panels.map(({ name, title }) =>
        h(
          "button",
          {
            type: "button",
            role: "tab",
            id: `tab-${name}`,
            "aria-controls": `panel-${name}`,
            onclick: () => open(name),
          },
          title,
        ),
      ),
    );
  }

  tab(name) {
    return this.element.querySelector(`#tab-${name}`);
  }

  show(name) {
    this.shown = name;
    for (const panel of this.panels) {
      const here = panel.name === name;
      panel.element.hidden = !here;
      this.tab(panel.name).setAttribute("aria-selected", here);
      this.tab(panel.name).setAttribute("tabindex", here ? 0 : -1);
    }
  }

  key(event) {
    const names = this.panels.map((panel) => panel.name);
    const at = names.indexOf(this.shown);
    const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: names.length - 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    const name = names[(to + names.length) % names.length];
    this.open(name);
    this.tab(name).focus();
  }
}
