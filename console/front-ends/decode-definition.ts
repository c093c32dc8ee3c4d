import type { ConsoleDefinition, TypeSelector } from 'ledgerplane/console-kit';

/**
 * The maximum number of parts of each kind, and of levels of messages. The bound prevents that a faulty plugin blocks
 * the page.
 */
const partsMax = 200;
const messagesMax = 5_000;

/** Returns the problem of a value; undefined for a valid one. */
type Check = (value: unknown) => string | undefined;
type Checks = Readonly<Record<string, Check>>;

const text: Check = (value) => (typeof value === 'string' && value !== '' ? undefined : 'must be a text');
const loader: Check = (value) => (typeof value === 'function' ? undefined : 'must be a function');
const name: Check = (value) =>
  typeof value === 'string' && /^[a-z0-9][a-z0-9-]{0,62}$/u.test(value)
    ? undefined
    : 'must have lowercase letters, digits and "-" only';
const address: Check = (value) =>
  typeof value === 'string' && /^\/(?!\/)/u.test(value) ? undefined : 'must be a path that begins with one "/"';
const texts: Check = (value) =>
  Array.isArray(value) && value.every((each) => typeof each === 'string') ? undefined : 'must be a list of texts';
const number: Check = (value) =>
  typeof value === 'number' && Number.isFinite(value) ? undefined : 'must be a finite number';
const oneOf =
  (...allowed: readonly unknown[]): Check =>
  (value) =>
    allowed.includes(value) ? undefined : `must be ${allowed.map(String).join(' or ')}`;
const optional =
  (check: Check): Check =>
  (value) =>
    value === undefined ? undefined : check(value);

/** Checks the named members of an object. Ignores other members, which a later version of the kit may define. */
const object =
  (checks: Checks): Check =>
  (value) => {
    if (!isObject(value)) return 'must be an object';
    for (const [member, check] of Object.entries(checks)) {
      const problem = check(value[member]);
      if (problem !== undefined) return `${member}: ${problem}`;
    }
    return undefined;
  };
const list =
  (check: Check): Check =>
  (value) => {
    if (!Array.isArray(value)) return 'must be a list';
    if (value.length > partsMax) return `must have at most ${String(partsMax)} entries`;
    for (const [index, each] of value.entries()) {
      const problem = check(each);
      if (problem !== undefined) return `${String(index)}: ${problem}`;
    }
    return undefined;
  };

const guarded = { permissions: optional(texts) };
const ordered = { order: optional(number) };
const type = object({ group: (value) => (typeof value === 'string' ? undefined : 'must be a text'), plural: text });
const types = optional(list(type));

const definition = object({
  routes: optional(
    list(
      object({
        path: address,
        area: optional(oneOf('own')),
        component: loader,
        props: optional(oneOf(true, false)),
        meta: optional(object({ ...guarded, title: optional(text), menu: optional(object(ordered)) })),
      }),
    ),
  ),
  menu: optional(list(object({ ...guarded, ...ordered, title: text, to: address }))),
  objectTabs: optional(list(object({ ...guarded, ...ordered, name, title: text, types, component: loader }))),
  objectActions: optional(list(object({ ...guarded, name, title: text, types, component: loader }))),
  objectPages: optional(
    list(
      object({
        type,
        list: optional(loader),
        create: optional(loader),
        overview: optional(loader),
        edit: optional(loader),
      }),
    ),
  ),
  coveredTypes: optional(loader),
  tableColumns: optional(list(object({ ...guarded, type, name, title: text, text: loader }))),
  homeCards: optional(
    list(object({ ...guarded, ...ordered, name, width: optional(oneOf('wide')), component: loader })),
  ),
  messages: optional(messages),
});

function messages(value: unknown): string | undefined {
  if (!isObject(value) || !isObject(value['en'])) return 'must be an object with the member en';
  let count = 0;
  const check = (each: unknown, at: string): string | undefined => {
    count += 1;
    if (count > messagesMax) return `must have at most ${String(messagesMax)} texts`;
    if (typeof each === 'string') return undefined;
    if (!isObject(each)) return `${at}: must be a text or an object`;
    for (const [key, inner] of Object.entries(each)) {
      const problem = check(inner, `${at}.${key}`);
      if (problem !== undefined) return problem;
    }
    return undefined;
  };
  for (const [language, all] of Object.entries(value)) {
    const problem = check(all, language);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

/**
 * Returns the types that a function of a front end returns. Returns an empty list if the function throws or returns an
 * invalid value.
 */
export function decodeTypes(read: () => unknown): readonly TypeSelector[] {
  try {
    const value = read();
    return isTypes(value) ? value : [];
  } catch {
    return [];
  }
}

function isTypes(value: unknown): value is readonly TypeSelector[] {
  return types(value) === undefined && value !== undefined;
}

/**
 * Returns the front end that a module declares.
 *
 * @throws Error if the default export is not a valid definition. The message contains the name of the invalid member.
 */
export function decodeDefinition(module: unknown): ConsoleDefinition {
  const exported = isObject(module) ? module['default'] : undefined;
  if (!isObject(exported)) throw new Error('the module has no default export made by defineConsole');
  const problem = definition(exported);
  if (problem !== undefined) throw new Error(`the definition is invalid: ${problem}`);
  return exported;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}
