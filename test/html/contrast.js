// All text whose contrast with what is behind it is below 4.5.
(() => {
  const canvas = document.createElement("canvas").getContext("2d", {willReadFrequently: true});
  const parse = (css) => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = css;
    canvas.fillRect(0, 0, 1, 1);
    const [r, g, b, a] = canvas.getImageData(0, 0, 1, 1).data;
    return {r, g, b, a};
  };
  const part = (c) => (c /= 255) <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
  const luminance = (c) => 0.2126 * part(c.r) + 0.7152 * part(c.g) + 0.0722 * part(c.b);
  const ratio = (a, b) => {
    const [x, y] = [luminance(a), luminance(b)].sort((m, n) => n - m);
    return (x + 0.05) / (y + 0.05);
  };
  const behind = (e) => {
    for (; e; e = e.parentElement) {
      const css = getComputedStyle(e).backgroundColor;
      if (parse(css).a === 255) return css;
    }
    return "rgb(255, 255, 255)";
  };
  const low = [];
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let n; (n = walk.nextNode());) {
    const e = n.parentElement;
    if (!n.data.trim() || e.tagName === "TITLE") continue;
    const style = getComputedStyle(e);
    const color = style.color;
    const ground = behind(e);
    const r = ratio(parse(color), parse(ground));
    if (r < 4.5) low.push({Text: n.data.slice(0, 40), Color: color, Behind: ground, Ratio: r});
  }
  return low;
})()
