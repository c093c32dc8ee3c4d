import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/** Files of a plugin, by their paths. */
export type Files = Readonly<Record<string, string>>;

export async function writePlugin(root: string, name: string, files: Files): Promise<void> {
  for (const [path, text] of Object.entries(files)) {
    const whole = join(root, name, path);
    await mkdir(dirname(whole), { recursive: true });
    await writeFile(whole, text);
  }
}

/** The manifest of a plugin with a front end in the folder `console`. */
export function manifest(name: string, version: string, more: object = {}): string {
  return JSON.stringify({
    apiVersion: 'plugin.${domain}/v1alpha1',
    kind: 'Plugin',
    metadata: { name },
    spec: { version, console: 'console', displayName: name, ...more },
  });
}

/** A front end without a build: its module imports the kit by its addresses. */
export function module(definition: string, declarations = ''): string {
  return `import { h } from '/console/kit/v1/vue.js';
    import * as kit from '/console/kit/v1/console-kit.js';
    const lazily = (component) => async () => ({ default: component });
    ${declarations}
    export default kit.defineConsole(${definition});`;
}

const role = `apiVersion: v1alpha1
kind: Role
metadata:
  name: garden-view
  labels: { '\${domain}/role-template': 'true' }
  annotations:
    rbac.authorization.\${domain}/ui-permissions: '["plugin:garden:plots:view"]'
rules:
  - apiGroups: ['garden.example.com']
    resources: ['plots']
    verbs: [get, list, watch]
`;

const main = `export default { types: [{
  group: 'garden.example.com', version: 'v1', plural: 'plots', singular: 'plot', kind: 'Plot',
  schema: { type: 'object', properties: { spec: { type: 'object', properties: { crop: { type: 'string' } } } } },
}] };`;

const declarations = (version: string): string => `
  const plots = { group: 'garden.example.com', plural: 'plots' };
  const posts = { group: 'content.\${domain}', plural: 'posts' };
  const page = {
    props: ['plot'],
    setup(props) {
      const { t, language } = kit.useMessages();
      const { plugin, addressOf, username } = kit.useConsole();
      return () => h(kit.UiPage, { title: t('plots.title') }, () => [
        h('p', { class: 'garden-${version}' }, t('plots.shown', { plot: props.plot, user: username.value })),
        h('p', 'edition ${version} of ' + plugin.name + ' ' + plugin.version + ', ' + language.value),
        h(kit.PermissionGuard, { permissions: ['plugin:garden:plots:dig'] }, () => h('p', 'digging')),
        h(kit.UiButton, { to: addressOf('/about') }, () => t('about')),
      ]);
    },
  };
  const about = { setup: () => () => h(kit.UiPage, { title: 'About the garden' }) };
  const card = { setup: () => () => h(kit.UiCard, { title: 'Weather' }, () => 'sunny ${version}') };
  const tab = { props: ['type', 'name'], setup: (props) => () => h('p', props.name + ' is a ' + props.type.kind) };
  const dialog = { props: ['name'], emits: ['close'], setup: (props, { emit }) => () => h(kit.UiDialog, {
    open: true, title: 'Water ' + props.name, 'onUpdate:open': () => emit('close'),
  }) };
  const sow = { props: ['type'], setup: (props) => () => h(kit.UiPage, { title: 'Sow a ' + props.type.kind }) };
  const summary = { props: ['type', 'name'], setup: (props) => () => h('p', 'all about ' + props.name) };`;

const definition = `{
  routes: [
    { path: '/plots/:plot', component: lazily(page), props: true, meta: { title: 'plots.title' } },
    { path: '/plots', component: lazily(page),
      meta: { title: 'plots.title', permissions: ['plugin:garden:plots:view'], menu: {} } },
    { path: '/about', component: lazily(about), meta: { title: 'about' } },
    { path: '/', area: 'own', component: lazily(about), meta: { title: 'own', menu: { order: 5 } } },
  ],
  menu: [
    { title: 'list', to: '/objects/garden.example.com/v1/plots', order: 9 },
    { title: 'posts', to: '/objects/content.\${domain}/v1alpha1/posts', order: 10 },
  ],
  objectTabs: [
    { name: 'soil', title: 'soil', types: [plots], component: lazily(tab) },
    { name: 'plot', title: 'soil', types: [posts], component: lazily(tab) },
  ],
  objectActions: [{ name: 'water', title: 'water', types: [plots], component: lazily(dialog) }],
  objectPages: [{ type: plots, create: lazily(sow), overview: lazily(summary) }],
  tableColumns: [
    { type: plots, name: 'crop', title: 'crop', text: ({ spec }) => spec.crop.toUpperCase() },
    { type: posts, name: 'crop', title: 'crop', text: ({ spec }) => spec.title.toUpperCase() },
  ],
  homeCards: [{ name: 'weather', component: lazily(card) }],
  messages: {
    en: { plots: { title: 'Plots', shown: 'plot {plot} of {user}' }, about: 'About', own: 'My plots', list: 'All plots',
      posts: 'Field reports',
      soil: 'Soil', water: 'Water', crop: 'Crop' },
    zh: { plots: { title: '地块' } },
  },
}`;

/** A plugin with a type, a role, and every kind of part in the console. */
export function garden(version: string): Files {
  return {
    'extensions/role.yaml': role,
    'main.mjs': main,
    'console/index.js': module(definition, declarations(version)),
    'console/index.css': `.garden-${version} { letter-spacing: ${version}px; }`,
    'plugin.yaml': manifest('garden', `${version}.0.0`, { main: 'main.mjs' }),
  };
}
