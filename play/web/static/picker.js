// @ts-check
// A field that chooses one of many: typing searches, arrows move, Enter takes (ARIA's combobox with
// a list of options in groups).

import { h, put } from "./dom.js";

const MOST = 200; // options drawn at a time; typing finds the others
const PAGE = 8;
let count = 0;

/**
 * A picker with a label.
 *
 * groups: [{title, options: [{id, name, about?, strength?}]}]; an empty title shows none.
 * value: the id of the chosen option.
 * change: called with the id of another option when it is chosen.
 * data: attributes of the input.
 * detail: whether the chosen option's strength, or else its text, stands below the field.
 */
export class Picker {
  constructor({ label, groups, value, change, data = {}, detail = false }) {
    count += 1;
    const id = `picker-${count}`;
    this.id = id;
    this.label = label;
    this.groups = groups;
    this.value = value;
    this.change = change;
    this.shown = [];
    this.at = -1;
    this.input = h("input", {
      type: "text", role: "combobox", id, autocomplete: "off", spellcheck: "false",
      "aria-expanded": "false", "aria-controls": `${id}-list`, "aria-autocomplete": "list",
      "aria-describedby": detail ? `${id}-detail` : null, maxlength: 100, ...data,
      onclick: () => this.open(),
      oninput: () => this.open(this.input.value),
      onkeydown: (event) => this.key(event),
      onblur: () => this.close(),
    });
    this.list = h("div", { role: "listbox", id: `${id}-list`, "aria-label": label });
    this.note = h("p", { class: "muted small picker-note", role: "status" });
    // A popover is above dialogs and is not cut off by them.
    this.popup = h("div", { class: "picker-popup", popover: "manual",
      onmousedown: (event) => event.preventDefault() }, this.list, this.note);
    this.detail = detail && h("p", { class: "muted small picker-detail", id: `${id}-detail` });
    this.element = h("div", { class: "field picker" },
      h("label", { for: id }, label), this.input, this.popup, this.detail);
    this.move = () => this.place();
    this.write();
  }

  get options() {
    return this.groups.flatMap((group) => group.options);
  }

  get chosen() {
    return this.options.find((option) => option.id === this.value);
  }

  /** Write the name of the chosen option into the field. */
  write() {
    this.input.value = this.chosen?.name ?? "";
    this.input.title = this.input.value;
    this.input.dataset.value = this.value ?? "";
    const { about, strength } = this.chosen ?? {};
    if (this.detail) this.detail.textContent = strength || about || "";
  }

  /** Open the list with the options in which each word of `text` occurs. */
  open(text = null) {
    const words = (text ?? "").toLowerCase().split(/\s+/).filter(Boolean);
    const fits = ({ name, about = "", strength = "" }, title) => {
      const where = `${name} ${about} ${strength} ${title}`.toLowerCase();
      return words.every((word) => where.includes(word));
    };
    const groups = this.groups
      .map((group) => ({ ...group, options: group.options.filter((one) => fits(one, group.title)) }))
      .filter((group) => group.options.length);
    const all = groups.flatMap((group) => group.options);
    this.shown = all.slice(0, MOST);
    this.draw(groups);
    const left = all.length - this.shown.length;
    this.note.textContent = left ? `${left} more: type to search.` : all.length ? "" : "Nothing found.";
    this.note.hidden = !this.note.textContent;
    this.list.hidden = !all.length;
    if (!this.opened) {
      this.popup.showPopover?.();
      this.input.setAttribute("aria-expanded", "true");
      addEventListener("resize", this.move);
      document.addEventListener("scroll", this.move, true);
      if (text === null) this.input.select();
    }
    this.opened = true;
    this.place();
    this.point(words.length ? this.best(words.join(" ")) : this.shown.findIndex((one) => one.id === this.value));
  }

  /** The number of the option whose name is nearest to a text. */
  best(text) {
    const names = this.shown.map(({ name }) => name.toLowerCase());
    const tests = [(name) => name === text, (name) => name.startsWith(text), (name) => name.includes(text)];
    return Math.max(0, tests.map((test) => names.findIndex(test)).find((n) => n >= 0) ?? 0);
  }

  close() {
    if (!this.opened) return;
    this.opened = false;
    this.popup.hidePopover?.();
    this.input.setAttribute("aria-expanded", "false");
    this.input.removeAttribute("aria-activedescendant");
    removeEventListener("resize", this.move);
    document.removeEventListener("scroll", this.move, true);
    this.write();
  }

  draw(groups) {
    let n = 0;
    const option = (one) => {
      const number = n;
      n += 1;
      if (number >= MOST) return null;
      return h("div", { role: "option", id: `${this.id}-${number}`, class: "picker-option",
        "aria-selected": String(one.id === this.value), onclick: () => this.take(one.id) },
      h("span", { class: "picker-name" }, one.name),
      one.strength && h("span", { class: "picker-strength number" }, one.strength),
      one.about && h("span", { class: "muted small" }, one.about));
    };
    put(this.list, ...groups.map(({ title, options }, g) => {
      const made = options.map(option).filter(Boolean);
      if (!made.length) return null;
      return title
        ? h("div", { role: "group", "aria-labelledby": `${this.id}-group-${g}` },
          h("div", { class: "picker-group", id: `${this.id}-group-${g}`, role: "presentation" }, title), made)
        : made;
    }));
  }

  /** Place the list below the field, or above it where there is more room. */
  place() {
    const field = this.input.getBoundingClientRect();
    const width = Math.min(Math.max(field.width, 340), window.innerWidth - 16);
    const below = window.innerHeight - field.bottom - 12;
    const above = field.top - 12;
    const up = below < 220 && above > below;
    Object.assign(this.popup.style, {
      width: `${width}px`,
      left: `${Math.max(8, Math.min(field.left, window.innerWidth - width - 8))}px`,
      maxHeight: `${Math.min(420, up ? above : below)}px`,
      top: up ? "auto" : `${field.bottom + 4}px`,
      bottom: up ? `${window.innerHeight - field.top + 4}px` : "auto",
    });
  }

  /** Make an option the active one. */
  point(n) {
    this.list.querySelector(".active")?.classList.remove("active");
    this.at = n;
    const option = this.list.querySelector(`#${this.id}-${n}`);
    if (!option) {
      this.input.removeAttribute("aria-activedescendant");
      return;
    }
    option.classList.add("active");
    this.input.setAttribute("aria-activedescendant", option.id);
    const { list } = this;
    if (option.offsetTop < list.scrollTop + 24 ||
      option.offsetTop + option.offsetHeight > list.scrollTop + list.clientHeight) {
      list.scrollTop = option.offsetTop - list.clientHeight / 2;
    }
  }

  key(event) {
    const last = this.shown.length - 1;
    const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: PAGE, PageUp: -PAGE };
    if (event.key in steps) {
      event.preventDefault();
      if (!this.opened) this.open();
      else this.point(Math.max(0, Math.min(last, this.at + steps[event.key])));
    } else if (event.key === "Enter") {
      if (!this.opened) return;
      event.preventDefault();
      if (this.at >= 0 && this.at <= last) this.take(this.shown[this.at].id);
    } else if (event.key === "Escape" && this.opened) {
      event.preventDefault(); // which would close a dialog around it
      event.stopPropagation();
      this.close();
    }
  }

  take(id) {
    const other = id !== this.value;
    this.value = id;
    this.close();
    if (other) this.change(id);
  }
}
