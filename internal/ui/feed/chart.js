// The cursor of a chart: the group below the pointer, or the one that the arrow keys have reached.
const box = document.querySelector('[data-chart]');
if (box) {
  const chart = JSON.parse(box.dataset.chart);
  const area = box.querySelector('.chart-area');
  const svg = area.querySelector('svg.chart');
  const tip = box.querySelector('.chart-tip');
  const said = document.getElementById('chart-said');
  const { width, height } = svg.viewBox.baseVal;
  const count = chart.groups.length;
  const mark = svg.appendChild(document.createElementNS('http://www.w3.org/2000/svg', 'path'));
  mark.setAttribute('class', chart.kind === 'bar' ? 'mark' : 'mark-line');
  let at = -1;
  const y = (value) => (chart.high - value) / (chart.high - chart.low) * height;
  // Bars have a place each; lines go from edge to edge.
  const x = (i) => chart.kind === 'bar' ? i / count * width : i / Math.max(count - 1, 1) * width;

  function show(i) {
    at = i;
    tip.hidden = i < 0;
    if (i < 0) return mark.removeAttribute('d');
    const [name, rows, ...values] = chart.groups[i];
    if (chart.kind === 'bar') {
      const sums = chart.values[i].reduce(([up, down], v) => v > 0 ? [up + v, down] : [up, down + v], [0, 0]);
      mark.setAttribute('d', `M${x(i) + 0.5} ${y(sums[0])}H${x(i) + width / count - 0.5}V${y(sums[1])}H${x(i) + 0.5}Z`);
    } else {
      mark.setAttribute('d', `M${x(i)} 0V${height}`);
    }
    const head = document.createElement('p');
    head.textContent = name;
    const lines = values.map((value, k) => {
      const line = document.createElement('p');
      if (values.length > 1) line.append(chart.series[k]);
      const b = line.appendChild(document.createElement('b'));
      b.textContent = `${value} ${chart.unit}`.trim();
      return line;
    });
    const foot = document.createElement('p');
    foot.textContent = rows;
    tip.replaceChildren(head, ...lines, foot);
    const space = area.getBoundingClientRect();
    const outer = box.getBoundingClientRect();
    const middle = (x(i) + (chart.kind === 'bar' ? width / count : 0)) / width * space.width + space.left - outer.left;
    const flips = middle + tip.offsetWidth + 8 > outer.width;
    tip.style.left = `${Math.max(0, flips ? x(i) / width * space.width + space.left - outer.left - tip.offsetWidth - 8 : middle + 8)}px`;
    tip.style.top = `${Math.min(Math.max(0, y(Math.max(...chart.values[i])) / height * space.height - 8), 200)}px`;
  }

  area.addEventListener('pointermove', (e) => {
    const space = area.getBoundingClientRect();
    const part = (e.clientX - space.left) / space.width;
    const i = chart.kind === 'bar' ? Math.floor(part * count) : Math.round(part * (count - 1));
    if (count) show(Math.min(Math.max(i, 0), count - 1));
  });
  box.addEventListener('pointerleave', () => show(-1));
  box.addEventListener('blur', () => show(-1));
  box.addEventListener('keydown', (e) => {
    const to = { ArrowLeft: at < 0 ? count - 1 : at - 1, ArrowRight: at + 1, Home: 0, End: count - 1 }[e.key];
    if (e.key === 'Escape') show(-1);
    if (to === undefined || !count) return;
    e.preventDefault();
    show(Math.min(Math.max(to, 0), count - 1));
    said.textContent = [...tip.children].map((p) => p.textContent.replace(/(\D)(?=\u2212?\d)/, '$1 ')).join(', ');
  });
}
