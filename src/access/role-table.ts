import type { NonResourceRequest, ResourceRequest } from '../resource/request-path.ts';
import { NameSet } from './name-pattern.ts';
import { wildcardDepth } from './path-entry.ts';
import { pluginForm, resourcePatterns, resourceText } from './resource-entry.ts';
import type { Role } from './role.ts';
import type { Rule } from './rule.ts';

export type Grant = { readonly role: string; readonly rule: Rule };

/** A rule with what each decision about it needs. `place` is its place in its role. */
export type ReadyRule = { readonly grant: Grant; readonly place: number; readonly anyVerb: boolean; readonly names: NameSet | undefined };

/** A rule whose group and resource match. `plugin`: only if that plugin's type or route it is. */
export type Candidate = { readonly ready: ReadyRule; readonly plugin: string | undefined };

/** The rules of one group, by what a request goes by, so that most requests are one look-up. */
type GroupTable = {
  /** Entries as they are, and the plugin's forms by what follows the plugin's name. */
  readonly byText: Map<string, Candidate[]>;
  /** Of `*`, which every request goes by. */
  readonly forAny: Candidate[];
  // Whether there is any `*/S` or `R/*`.
  hasPatterns: boolean;
};

/** One role's rules by what they speak of: a decision looks at those that may match, and parses nothing. */
export class RoleTable {
  readonly role: Role;
  /** The most levels of an entry that ends in a wildcard; -1 when there is none. */
  readonly pathDepth: number;
  readonly #groups = new Map<string, GroupTable>();
  readonly #anyGroup: GroupTable | undefined;
  readonly #paths = new Map<string, ReadyRule[]>();

  constructor(role: Role) {
    this.role = role;
    let pathDepth = -1;
    for (const [place, rule] of role.rules.entries()) {
      const names = rule.kind === 'resource' && rule.resourceNames !== undefined && rule.resourceNames.length > 0 ? new NameSet(rule.resourceNames) : undefined;
      const ready: ReadyRule = { grant: { role: role.name, rule }, place, anyVerb: rule.verbs.includes('*'), names };
      if (rule.kind === 'resource') {
        for (const group of new Set(rule.apiGroups)) this.#addResources(group, rule.resources, ready);
      } else {
        for (const entry of new Set(rule.nonResourceURLs)) {
          put(this.#paths, entry, ready);
          pathDepth = Math.max(pathDepth, wildcardDepth(entry));
        }
      }
    }
    this.pathDepth = pathDepth;
    this.#anyGroup = this.#groups.get('*');
  }

  /** Rules whose group and resource match, in their order; a rule may be there twice. */
  candidates(request: Place): readonly Candidate[] {
    const found: Candidate[] = [];
    const text = resourceText(request.resource, request.subresource);
    const own = this.#groups.get(request.group);
    if (own !== undefined) collect(own, request, text, found);
    if (this.#anyGroup !== undefined && this.#anyGroup !== own) collect(this.#anyGroup, request, text, found);
    return found.length > 1 ? found.sort((left, right) => left.ready.place - right.ready.place) : found;
  }

  /** The first rule that allows it. Nothing is made on the way: most roles do not even speak of the group. `text` is what the request goes by. */
  findResource(asked: Asked, text: string): Grant | undefined {
    const own = this.#groups.get(asked.request.group);
    const any = this.#anyGroup;
    let first = own === undefined ? undefined : firstIn(own, text, asked, undefined);
    if (any !== undefined && any !== own) first = firstIn(any, text, asked, first);
    return first?.grant;
  }

  /** The first rule that allows it; `texts` are those of its path. */
  findPath(request: NonResourceRequest, texts: readonly string[]): Grant | undefined {
    if (this.#paths.size === 0) return undefined;
    let first: ReadyRule | undefined;
    for (const text of texts) {
      for (const ready of this.#paths.get(text) ?? []) {
        if ((first === undefined || ready.place < first.place) && allowsVerb(ready, request)) first = ready;
      }
    }
    return first?.grant;
  }

  #addResources(group: string, resources: readonly string[], ready: ReadyRule): void {
    let table = this.#groups.get(group);
    if (table === undefined) {
      table = { byText: new Map(), forAny: [], hasPatterns: false };
      this.#groups.set(group, table);
    }
    const anyone: Candidate = { ready, plugin: undefined };
    for (const entry of new Set(resources)) {
      if (entry === '*') table.forAny.push(anyone);
      else put(table.byText, entry, anyone);
      const form = pluginForm(entry);
      if (form !== undefined) put(table.byText, form.within, { ready, plugin: form.plugin });
      table.hasPatterns ||= form !== undefined && entry.includes('*');
    }
  }
}

type Place = Pick<ResourceRequest, 'group' | 'resource' | 'subresource'>;

function collect(table: GroupTable, { resource, subresource }: Place, text: string, found: Candidate[]): void {
  found.push(...table.byText.get(text) ?? none, ...table.forAny);
  if (!table.hasPatterns) return;
  for (const pattern of resourcePatterns(resource, subresource)) found.push(...(table.byText.get(pattern) ?? none).filter(isWhoevers));
}

const none: readonly Candidate[] = [];

/** A pattern is no plugin's form: what follows a plugin's name is taken as it stands. */
function isWhoevers({ plugin }: Candidate): boolean {
  return plugin === undefined;
}

/** One question. `owner`: the plugin, asked for once, and only when a rule depends on it; null: not asked yet. */
export type Asked = { readonly request: ResourceRequest; readonly pluginOf: (request: ResourceRequest) => string | undefined; owner: string | null | undefined };

function firstIn(table: GroupTable, text: string, asked: Asked, best: ReadyRule | undefined): ReadyRule | undefined {
  let first = earlier(table.byText.get(text), asked, best);
  if (table.forAny.length > 0) first = earlier(table.forAny, asked, first);
  if (!table.hasPatterns || text === asked.request.resource) return first;
  const { resource, subresource } = asked.request;
  for (const pattern of resourcePatterns(resource, subresource)) first = earlier(table.byText.get(pattern)?.filter(isWhoevers), asked, first);
  return first;
}

function earlier(candidates: readonly Candidate[] | undefined, asked: Asked, best: ReadyRule | undefined): ReadyRule | undefined {
  if (candidates === undefined) return best;
  for (const candidate of candidates) {
    if (best !== undefined && candidate.ready.place >= best.place) return best;
    if (isGranted(candidate, asked)) return candidate.ready;
  }
  return best;
}

/** The plugin whose type or route it would have to be; undefined where the rule allows nothing of it in any case. */
export function pluginNeeded({ ready, plugin }: Candidate, request: ResourceRequest): string | undefined {
  return plugin !== undefined && allows(ready, request) ? plugin : undefined;
}

/** Beside group and resource. */
export function isGranted({ ready, plugin }: Candidate, asked: Asked): boolean {
  if (!allows(ready, asked.request)) return false;
  if (plugin === undefined) return true;
  if (asked.owner === null) asked.owner = asked.pluginOf(asked.request);
  return asked.owner === plugin;
}

/** A path's verb may be named by its method as well (decision 6.4). */
function allowsVerb({ grant, anyVerb }: ReadyRule, { verb, method }: NonResourceRequest): boolean {
  return anyVerb || grant.rule.verbs.includes(verb) || grant.rule.verbs.includes(method);
}

/** The verb, and the name where the rule gives any. What has no name is in no list of names. */
function allows({ grant, anyVerb, names }: ReadyRule, { verb, name, selectedName }: ResourceRequest): boolean {
  if (!anyVerb && !grant.rule.verbs.includes(verb)) return false;
  if (names === undefined) return true;
  const named = name ?? selectedName;
  return named !== undefined && names.has(named);
}

function put<T>(lists: Map<string, T[]>, key: string, value: T): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [value]);
  else list.push(value);
}
