'use strict';

const PAUSE_MILLIS = 1000;
const LONGEST_REQUEST_MILLIS = 10000;
const OLD_MILLIS = 5000;
const MOST_WAITERS = 50;
const ID_PREFIX = /^interlock-/;
const HELD_BY_NOBODY = ['latch', 'barrier'];
const STATES = ['INSIDE', 'SILENT', 'LEAVING', 'KEPT'];

const byId = id => document.getElementById(id);
const fromTemplate = id => byId(id).content.firstElementChild.cloneNode(true);
const count = (number, one, many) => `${number} ${number === 1 ? one : many}`;

// Names and threads come from users: they are only ever text, never markup, and don't turn or hide other text.
const plain = text => text.replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu, c => `\\u{${c.codePointAt(0).toString(16)}}`);

function setText(element, text) {
  if (element.textContent !== text) {
    element.textContent = text; // what stays the same stays selected
  }
}

/** Makes the children of an element, from a position on, those of these items: one each, updated while it is there. */
function sync(parent, items, keyOf, make, update, from = 0) {
  const before = new Map([...parent.children].slice(from).map(child => [child.dataset.key, child]));
  items.forEach((item, i) => {
    const key = keyOf(item, i);
    const child = before.get(key) ?? make(item);
    before.delete(key);
    child.dataset.key = key;
    if (parent.children[from + i] !== child) {
      parent.insertBefore(child, parent.children[from + i] ?? null);
    }
    update(child, item, i);
  });
  before.forEach(child => child.remove());
}

function age(seconds) {
  if (seconds === null) {
    return '';
  }
  const [d, h, min, s] = [seconds / 86400, seconds / 3600 % 24, seconds / 60 % 60, seconds % 60].map(Math.floor);
  return d > 0 ? `${d} d ${h} h` : h > 0 ? `${h} h ${min} min` : min > 0 ? `${min} min ${s} s` : `${s} s`;
}

function setState(element, state) {
  setText(element, state);
  element.className = `state ${state}`;
}

function stateOf({ kind, holders }) {
  const state = STATES.find(one => holders.some(holder => holder.state === one));
  return state?.toLowerCase() ?? (HELD_BY_NOBODY.includes(kind) ? 'awaited' : 'free');
}

function processOf(fleet, id) {
  const session = fleet.sessions.find(one => one.id === id);
  return session?.host ? `${plain(session.host)} ${session.pid}` : session ? 'silent' : 'not connected';
}

function fill(row, { details, place, thread, process, seconds }) {
  if (details) {
    setText(row.querySelector('small'), details);
    return;
  }
  const [placeCell, threadCell, processCell, ageCell] = row.children;
  setText(threadCell.firstChild, thread);
  setText(processCell.firstChild, process);
  setText(ageCell.firstChild, age(seconds));
  if (STATES.includes(place)) {
    setState(placeCell.firstChild, place.toLowerCase());
  } else {
    setText(placeCell.firstChild, place);
  }
}

function threadOf({ thread, state, reads, permits = '0' }) {
  if (thread !== null) {
    return plain(thread) || "''";
  }
  if (permits !== '0') {
    return count(Number(permits), 'permit', 'permits');
  }
  return reads ? 'readers' : state === 'KEPT' || state === 'LEAVING' ? 'nobody inside' : 'not known';
}

/** Two rows: what matters most, and below it in small letters what else is known. */
function rowsOf(fleet, place, one) {
  const details = [
    `session ${one.sessionName ? plain(one.sessionName) : shortId(one.session)}`,
    one.reads && one.thread !== null ? 'reads' : '',
    (one.token ?? '0') === '0' ? '' : `token ${one.token}`,
  ];
  return [
    { place, thread: threadOf(one), process: processOf(fleet, one.session), seconds: one.age },
    { details: details.filter(Boolean).join(', ') },
  ];
}

/** Holders, waiters, and those that wait for a condition, each condition by itself. */
function groupsOf(fleet, { holders, waiters }) {
  const groups = new Map();
  for (const waiter of waiters) {
    const title = waiter.condition === null ? 'Waiting' : `Waiting for condition “${plain(waiter.condition)}”`;
    groups.set(title, [...(groups.get(title) ?? []), waiter]);
  }
  const queues = [...groups].map(([title, queue]) => ({
    title: `${title}: ${queue.length}`,
    key: title,
    rows: queue.slice(0, MOST_WAITERS).flatMap((waiter, i) => rowsOf(fleet, `${i + 1}.`, waiter)),
    left: Math.max(0, queue.length - MOST_WAITERS),
  }));
  const held = { title: '', key: '', rows: holders.flatMap(holder => rowsOf(fleet, holder.state, holder)), left: 0 };
  return holders.length === 0 ? queues : [held, ...queues];
}

function showName(fleet, card, name) {
  setText(card.querySelector('h3'), plain(name.name));
  setText(card.querySelector('.kind'), plain(name.kind));
  setState(card.querySelector('header .state'), stateOf(name));
  const position = (row, i) => `${i} ${row.details ? 'details' : 'row'}`;
  sync(card.querySelector('table'), groupsOf(fleet, name), group => group.key, () => fromTemplate('group'),
      (body, { title, rows, left }) => {
        setText(body.querySelector('th'), left === 0 ? title : `${title}, the last ${left} not shown`);
        body.rows[0].hidden = title === ''; // rows of holders speak for themselves
        sync(body, rows, position, row => fromTemplate(row.details ? 'details' : 'row'), fill, 1);
      }, 1);
}

function shortId(id) {
  return plain(id).replace(ID_PREFIX, '').slice(0, 8);
}

function showSession(fleet, row, session) {
  const [id, process, state, open] = row.children;
  setText(id.firstChild, session.name ? `${plain(session.name)} (${shortId(session.id)})` : plain(session.id));
  setText(process.firstChild, session.host ? `${plain(session.host)} ${session.pid}` : 'unknown');
  setText(process.lastChild, session.id === fleet.self ? 'this service' : '');
  setState(state.firstChild, session.age === null ? 'silent' : 'answers');
  setText(open.firstChild, age(session.age));
}

function sessionRow() {
  const row = document.createElement('tr');
  for (let i = 0; i < 4; i++) {
    const cell = row.appendChild(document.createElement('td'));
    cell.append(document.createElement('span'), document.createElement('small'));
  }
  return row;
}

let drawn = 0;

function deadlockCard({ steps }) {
  const card = fromTemplate('deadlock');
  drawCycle(card.querySelector('svg'), steps, drawn++);
  for (const step of steps) {
    const item = card.querySelector('ol').appendChild(document.createElement('li'));
    const token = document.createElement('small');
    token.textContent = `token ${step.token}`;
    item.append(`“${plain(step.thread)}” (${plain(step.host)} ${step.pid}) holds “${plain(step.holds)}” `
        + `and waits for “${plain(step.waitsFor)}”.`, token);
  }
  return card;
}

function show(fleet) {
  const { names, namesInAll, sessions, deadlocks } = fleet;
  const waiting = names.reduce((sum, name) => sum + name.waiters.length, 0);
  setText(byId('summary'), [
    count(sessions.length, 'session', 'sessions'),
    count(namesInAll, 'name', 'names'),
    `${waiting} waiting`,
    count(deadlocks.length, 'deadlock', 'deadlocks'),
    `seen at ${new Date().toLocaleTimeString()}`,
  ].join(', '));
  setText(byId('deadlocks-heading'), deadlocks.length === 1 ? 'Deadlock' : `${deadlocks.length} deadlocks`);
  byId('deadlocks').hidden = deadlocks.length === 0;
  const identity = ({ steps }) => JSON.stringify(steps);
  sync(byId('deadlocks'), deadlocks, identity, deadlockCard, () => {}, 1);
  byId('names-note').hidden = names.length > 0 && names.length === namesInAll;
  setText(byId('names-note'), names.length === 0
      ? 'None that a session has or waits for.'
      : `The ${names.length} that most wait for, of ${namesInAll}.`);
  sync(byId('names'), names, name => `${name.kind} ${name.name}`, () => fromTemplate('name'),
      (card, name) => showName(fleet, card, name));
  sync(byId('sessions'), sessions, session => session.id, sessionRow,
      (row, session) => showSession(fleet, row, session));
}

let seenAt = null;
let failure = null;

/** Says what is wrong, and how old what is shown is. */
function tell() {
  const millis = seenAt === null ? 0 : performance.now() - seenAt;
  const isOld = millis > OLD_MILLIS;
  const what = failure ?? (isOld ? 'No answer yet.' : '');
  const when = seenAt === null ? 'Nothing has been seen yet.' : `What is shown was seen ${age(millis / 1000)} ago.`;
  setText(byId('what'), what); // is read out, but not each second
  setText(byId('when'), what && when);
  byId('trouble').classList.toggle('shown', what !== '');
  byId('fleet').classList.toggle('old', what !== '');
}

async function look() {
  let response;
  try {
    response = await fetch('fleet', { cache: 'no-store', signal: AbortSignal.timeout(LONGEST_REQUEST_MILLIS) });
    if (response.status === 503) {
      failure = "Redis doesn't answer the service.";
    } else if (!response.ok) {
      failure = `The service fails (status ${response.status}).`;
    } else {
      show(await response.json());
      failure = null;
      seenAt = performance.now();
    }
  } catch (e) {
    console.error(e);
    failure = response?.ok ? "The service's answer can't be shown." : "The service doesn't answer.";
  }
  tell();
  setTimeout(look, PAUSE_MILLIS); // only now: requests don't pile up
}

look();
setInterval(tell, PAUSE_MILLIS);
