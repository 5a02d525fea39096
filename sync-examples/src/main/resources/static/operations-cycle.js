'use strict';

// Draws a deadlock as its threads and locks on an ellipse: a thread waits for a lock, which the next thread holds.

const SVG = 'http://www.w3.org/2000/svg';
const THREAD = { width: 164, height: 46 };
const LOCK = { width: 132, height: 30 };
const MOST_LETTERS = { thread: 20, lock: 16 };
const MARGIN = 6;

function svg(name, attributes, ...children) {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) {
    element.setAttribute(key, value);
  }
  element.append(...children);
  return element;
}

const shortened = (text, most) => [...text].length <= most ? text : [...text].slice(0, most - 1).join('') + '…';

/** The threads and locks in the order of the arrows, which lead from each to the next and at last to the first. */
function stations(steps) {
  return steps.flatMap(step => [
    { kind: 'thread', text: plain(step.thread), where: `pid ${step.pid}`, size: THREAD },
    { kind: 'lock', text: plain(step.waitsFor), size: LOCK },
  ]);
}

function place(stations) {
  // Neighbours must not overlap: the more there are, the larger the ellipse.
  const ry = Math.max(120, stations.length * 21);
  const rx = Math.max(155, stations.length * 26);
  stations.forEach((station, i) => {
    const angle = 2 * Math.PI * i / stations.length - Math.PI / 2;
    station.x = rx * Math.cos(angle);
    station.y = ry * Math.sin(angle);
  });
  return { width: rx + THREAD.width / 2 + MARGIN, height: ry + THREAD.height / 2 + MARGIN };
}

/** Where the line from a station's centre to another one's crosses the edge of its box, a little outside. */
function edge({ x, y, size }, other) {
  const dx = other.x - x;
  const dy = other.y - y;
  const part = Math.min(
      (size.width / 2 + 3) / Math.max(Math.abs(dx), 1e-9), (size.height / 2 + 3) / Math.max(Math.abs(dy), 1e-9));
  return { x: x + dx * part, y: y + dy * part };
}

function arrow(from, to, marker) {
  const begin = edge(from, to);
  const end = edge(to, from);
  return svg('line', {
    class: from.kind === 'thread' ? 'arrow waits' : 'arrow',
    x1: begin.x, y1: begin.y, x2: end.x, y2: end.y, 'marker-end': `url(#${marker})`,
  });
}

function box({ kind, text, where, x, y, size }) {
  const name = svg('text', { x, y: where ? y - 3 : y + 5 }, shortened(text, MOST_LETTERS[kind]));
  const group = svg('g', { class: kind },
      svg('title', {}, text),
      svg('rect', {
        x: x - size.width / 2, y: y - size.height / 2, width: size.width, height: size.height,
        rx: kind === 'lock' ? size.height / 2 : 4,
      }),
      name);
  if (where) {
    group.append(svg('text', { class: 'where', x, y: y + 14 }, where));
  }
  return group;
}

/** Draws into an svg element. */
function drawCycle(target, steps, id) {
  const all = stations(steps);
  const { width, height } = place(all);
  const marker = `head-of-${id}`;
  const title = `Cycle of ${steps.length} threads: dashed arrows lead to what a thread waits for, others to its holder`;
  target.setAttribute('viewBox', `${-width} ${-height} ${2 * width} ${2 * height}`);
  target.replaceChildren(
      svg('title', {}, title),
      svg('defs', {}, svg('marker',
          { id: marker, viewBox: '0 0 8 8', refX: 7, refY: 4, markerWidth: 8, markerHeight: 8, orient: 'auto' },
          svg('path', { d: 'M0 0L8 4L0 8z' }))),
      ...all.map((station, i) => arrow(station, all[(i + 1) % all.length], marker)),
      ...all.map(box));
}
