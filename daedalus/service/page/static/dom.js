/** Building and finding elements; text from outside only ever becomes text nodes. */

const SVG = "http://www.w3.org/2000/svg";

/**
 * Return a new HTML element.
 * @param {string} tag
 * @param {Object<string, *>} [properties] `class`, `text`, `on` (listeners by event), `data`;
 *   anything else is an attribute: true writes it empty, false and null leave it out.
 * @param {...(Node|string)} children
 * @returns {HTMLElement}
 */
export function el(tag, properties = {}, ...children) {
  return filled(document.createElement(tag), properties, children);
}

/**
 * Return a new SVG element, see `el`.
 * @param {string} tag
 * @param {Object<string, *>} [properties]
 * @param {...(Node|string)} children
 * @returns {SVGElement}
 */
export function svg(tag, properties = {}, ...children) {
  return filled(document.createElementNS(SVG, tag), properties, children);
}

/**
 * Return the element of the page with this id.
 * @param {string} id
 * @returns {HTMLElement}
 */
export function byId(id) {
  const found = document.getElementById(id);
  if (!found) throw new Error(`the page has no element #${id}`);
  return found;
}

/**
 * Set an element's attributes.
 * @param {Element} element
 * @param {Object<string, *>} attributes
 */
export function set(element, attributes) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === false || value === null || value === undefined) element.removeAttribute(name);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
}

function filled(element, { class: names, text, on = {}, data = {}, ...attributes }, children) {
  if (names) element.setAttribute("class", names);
  if (text !== undefined) element.textContent = text;
  for (const [event, listener] of Object.entries(on)) element.addEventListener(event, listener);
  Object.assign(element.dataset, data);
  set(element, attributes);
  element.append(...children);
  return element;
}
