// The rules of the page, for one moment. Returns a list of texts as JSON.
const faults = [];
const root = document.documentElement;
if (root.scrollWidth > root.clientWidth) faults.push(`the page is ${root.scrollWidth} wide in ${root.clientWidth}`);
const name = node => node.tagName.toLowerCase() + (node.id ? "#" + node.id : "") + "." + String(node.className.baseVal ?? node.className);
const isShown = node => node.getClientRects().length > 0 && getComputedStyle(node).visibility !== "hidden";
function channels(color) { return color.match(/[\d.]+/g).map(Number); }
function luminance([red, green, blue]) {
  const part = value => { const share = value / 255; return share <= 0.03928 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4; };
  return 0.2126 * part(red) + 0.7152 * part(green) + 0.0722 * part(blue);
}
function background(node) {
  for (let at = node; at; at = at.parentElement) {
    const color = channels(getComputedStyle(at).backgroundColor);
    if (color.length === 3 || color[3] === 1) return color;
  }
  return [255, 255, 255];
}
const texts = [];
for (const node of document.querySelectorAll("body *")) {
  if (!isShown(node) || node.closest("svg") || node.classList.contains("skip")) continue;
  const hasText = [...node.childNodes].some(child => child.nodeType === 3 && child.textContent.trim());
  if (!hasText) continue;
  const box = node.getBoundingClientRect();
  if (!node.closest(".scroll, nav") && (box.left < -1 || box.right > root.clientWidth + 1)) faults.push(`${name(node)} leaves the page`);
  const [front, back] = [luminance(channels(getComputedStyle(node).color)), luminance(background(node))];
  const contrast = (Math.max(front, back) + 0.05) / (Math.min(front, back) + 0.05);
  if (contrast < 4.5 && !node.disabled) faults.push(`${name(node)} has a contrast of ${contrast.toFixed(2)}`);
  if (!node.closest("td, nav, dialog, .scroll, .message")) texts.push([node, box]);
}
for (let one = 0; one < texts.length; one += 1) {
  for (let two = one + 1; two < texts.length; two += 1) {
    const [[a, boxA], [b, boxB]] = [texts[one], texts[two]];
    if (a.contains(b) || b.contains(a)) continue;
    const width = Math.min(boxA.right, boxB.right) - Math.max(boxA.left, boxB.left);
    const height = Math.min(boxA.bottom, boxB.bottom) - Math.max(boxA.top, boxB.top);
    if (width > 1 && height > 1) faults.push(`${name(a)} overlaps ${name(b)}`);
  }
}
return JSON.stringify([...new Set(faults)]);
