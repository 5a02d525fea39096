'use strict';

const POLL_MILLIS = 500;
const STEADY_MILLIS = 125;
const FIELDS = ['RateLimit-Policy', 'RateLimit', 'Retry-After'];
const cards = new Map();

const byId = id => document.getElementById(id);
const colour = name => getComputedStyle(document.documentElement).getPropertyValue(name);
const ageLabel = age => age === 0 ? 'now' : age % 15 === 0 ? `−${age} s` : '';
const sum = counts => counts.reduce((a, b) => a + b, 0);

// Keys come from strangers: they are only ever text, never markup.
function addCard(id) {
  const section = byId('card').content.firstElementChild.cloneNode(true);
  section.querySelector('h2').textContent = section.querySelector('h2').title = id;
  byId('keys').append(section);
  const chart = new Chart(section.querySelector('canvas'), {
    type: 'bar',
    data: {
      labels: [],
      datasets: [
        { label: 'admitted', backgroundColor: colour('--admitted'), data: [] },
        { label: 'refused', backgroundColor: colour('--refused'), data: [] },
      ],
    },
    options: {
      animation: false,
      maintainAspectRatio: false,
      datasets: { bar: { barPercentage: 1, categoryPercentage: 0.85 } },
      interaction: { mode: 'index', intersect: false },
      plugins: { legend: { display: false } },
      scales: {
        x: { stacked: true, grid: { display: false }, ticks: { autoSkip: false, maxRotation: 0 } },
        y: { stacked: true, beginAtZero: true, suggestedMax: 4, ticks: { precision: 0, maxTicksLimit: 5 } },
      },
    },
  });
  const card = { section, chart };
  cards.set(id, card);
  return card;
}

function show({ instance, keys }) {
  byId('instance').textContent = `the instance at port ${instance}`;
  byId('empty').hidden = keys.length > 0;
  const ids = new Set(keys.map(cardId));
  for (const [id, { section, chart }] of cards) {
    if (!ids.has(id)) {
      chart.destroy();
      section.remove();
      cards.delete(id);
    }
  }
  keys.forEach(showKey);
}

const cardId = ({ policy, key }) => `/${policy}/${key}`;

function showKey(series, position) {
  const id = cardId(series);
  const { section, chart } = cards.get(id) ?? addCard(id);
  const cells = byId('keys').children;
  if (cells[position] !== section) {
    byId('keys').insertBefore(section, cells[position]);
  }
  section.querySelector('b.admitted').textContent = sum(series.admitted);
  section.querySelector('b.refused').textContent = sum(series.refused);
  chart.data.labels = series.admitted.map((_, i) => ageLabel(series.admitted.length - 1 - i));
  chart.data.datasets[0].data = series.admitted;
  chart.data.datasets[1].data = series.refused;
  chart.update('none');
}

async function poll() {
  try {
    show(await (await fetch('traffic')).json());
  } catch (e) {
    byId('instance').textContent = 'an instance that no longer answers';
  }
  setTimeout(poll, POLL_MILLIS);
}

async function send() {
  try {
    const path = `${byId('policy').value}/${encodeURIComponent(byId('client').value)}`;
    const response = await fetch(path);
    const fields = FIELDS.filter(name => response.headers.has(name))
        .map(name => `${name}: ${response.headers.get(name)}`);
    byId('answer').textContent = [`GET /${path}`, response.status, ...fields, await response.text()].join('\n');
  } catch (e) {
    byId('answer').textContent = `no answer: ${e.message}`;
  }
}

byId('sender').addEventListener('submit', e => e.preventDefault());
for (const button of document.querySelectorAll('button[data-requests]')) {
  button.addEventListener('click', () => {
    for (let i = 0; i < button.dataset.requests; i++) {
      send();
    }
  });
}
setInterval(() => byId('steady').checked && send(), STEADY_MILLIS);
poll();
