// A page in the browser: the names of the games that the server offers.

export default class SticksPage {
  kind = "sticks";

  constructor(root, catalogue) {
    root.textContent = `Sticks and ${catalogue.games.length} games`;
  }

  go() {
    return true;
  }

  leave() {}
}
