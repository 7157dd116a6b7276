/** Finds and builds elements. Text from outside only ever becomes text nodes. */

const SVG = "http://www.w3.org/2000/svg";

/**
 * What a new element has: its class, its text, its listeners by event, its data attributes; any
 * other name is an attribute, see `set`.
 * @typedef {{class?: string, text?: string, on?: Record<string, (event: Event) => unknown>,
 *   data?: Record<string, string>, [attribute: string]: unknown}} Properties
 */

/**
 * Return a new HTML element.
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Properties} [properties]
 * @param {...(Node|string)} children
 * @returns {HTMLElementTagNameMap[Tag]}
 */
export function el(tag, properties = {}, ...children) {
  return filled(document.createElement(tag), properties, children);
}

/**
 * Return a new SVG element, see `el`.
 * @template {keyof SVGElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Properties} [properties]
 * @param {...(Node|string)} children
 * @returns {SVGElementTagNameMap[Tag]}
 */
export function svg(tag, properties = {}, ...children) {
  return filled(document.createElementNS(SVG, tag), properties, children);
}

/**
 * Return the element of the page with this id.
 * @template {Element} [Kind=HTMLElement]
 * @param {string} id
 * @param {new () => Kind} [kind] The class that it must have.
 * @returns {Kind}
 */
export function byId(id, kind) {
  const wanted = /** @type {new () => Kind} */ (kind ?? HTMLElement);
  const found = document.getElementById(id);
  if (found instanceof wanted) return found;
  throw new Error(`the page has no ${wanted.name} #${id}`);
}

/**
 * Return the first descendant that a selector finds.
 * @template {Element} [Kind=HTMLElement]
 * @param {Element} host
 * @param {string} selector
 * @param {new () => Kind} [kind] The class that it must have.
 * @returns {Kind}
 */
export function within(host, selector, kind) {
  const wanted = /** @type {new () => Kind} */ (kind ?? HTMLElement);
  const found = host.querySelector(selector);
  if (found instanceof wanted) return found;
  throw new Error(`#${host.id} has no ${wanted.name} ${selector}`);
}

/**
 * Set an element's attributes. True writes an empty attribute; false, null and undefined remove it.
 * @param {Element} element
 * @param {Record<string, unknown>} attributes
 */
export function set(element, attributes) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === false || value === null || value === undefined) element.removeAttribute(name);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
}

/**
 * Give an element its properties and children, and return it.
 * @template {HTMLElement|SVGElement} Kind
 * @param {Kind} element
 * @param {Properties} properties
 * @param {(Node|string)[]} children
 */
function filled(element, { class: names, text, on = {}, data = {}, ...attributes }, children) {
  if (names) element.setAttribute("class", names);
  if (text !== undefined) element.textContent = text;
  for (const [event, listener] of Object.entries(on)) element.addEventListener(event, listener);
  Object.assign(element.dataset, data);
  set(element, attributes);
  element.append(...children);
  return element;
}
