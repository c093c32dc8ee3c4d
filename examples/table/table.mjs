/** A table of widgets that follows changes on the server, also across restarts of the server. */
import { connect } from './ledgerplane/client/client.js';

const widgets = { group: 'example.com', version: 'v1alpha1', plural: 'widgets' };
const form = document.querySelector('form');
const table = document.querySelector('table');
const body = document.querySelector('tbody');
const status = document.querySelector('[role=status]');
/** The rows by the names of widgets. */
const rows = new Map();

form.addEventListener('submit', (event) => {
  event.preventDefault();
  logIn(new FormData(form)).catch(report);
});

async function logIn(fields) {
  const answer = await fetch('/login', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(Object.fromEntries(fields)),
  });
  const { csrfToken, detail } = await answer.json();
  if (!answer.ok) throw new Error(detail);
  form.hidden = true;
  await show(connect({ url: location.origin, session: { csrfToken } }));
}

async function show(client) {
  const informer = client.informer(widgets, { onError: report });
  const put = (widget) => fill(client, widget);
  informer.on({ add: put, update: put, delete: ({ metadata }) => drop(metadata.name) });
  await informer.synced;
  table.hidden = false;
  status.textContent = '';
}

function fill(client, { metadata: { name, uid }, spec, status: state }) {
  const row = rows.get(name) ?? body.insertRow();
  rows.set(name, row);
  // Inserts values as text and not as HTML, because users may write any title.
  row.replaceChildren(...[name, spec.title, spec.size ?? '', state?.phase ?? ''].map(cell));
  const remove = document.createElement('button');
  remove.textContent = 'Delete';
  remove.addEventListener('click', () => {
    client.delete(widgets, name, { uid }).catch(report);
  });
  row.insertCell().append(remove);
}

function cell(value) {
  const made = document.createElement('td');
  made.textContent = String(value);
  return made;
}

function drop(name) {
  rows.get(name)?.remove();
  rows.delete(name);
}

function report(error) {
  status.textContent = error.message;
}
