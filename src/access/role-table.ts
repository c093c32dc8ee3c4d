import type { NonResourceRequest, ResourceRequest } from '../resource/query/request-path.ts';
import { NameSet } from './name-pattern.ts';
import { wildcardDepth } from './path-entry.ts';
import { pluginForm, resourcePatterns, resourceText } from './resource-entry.ts';
import type { Role } from './role.ts';
import type { Rule } from './rule.ts';

/** The role and the rule that allow a request. */
export type Grant = {
  readonly role: string;
  readonly rule: Rule;
};

/** A rule, prepared for decisions. `place` is the index of the rule in its role. */
export type ReadyRule = {
  readonly grant: Grant;
  readonly place: number;
  readonly anyVerb: boolean;
  readonly names: NameSet | undefined;
};

/**
 * A rule with an entry that matches the group and resource of a request. With `plugin`, the entry applies only to types
 * and routes of this plugin.
 */
export type Candidate = {
  readonly ready: ReadyRule;
  readonly plugin: string | undefined;
};

/** The resource rules of a role for one API group, or for the group `*`. */
type GroupTable = {
  /**
   * The rules by their entries of `resources` other than `*`. An entry with a slash is also stored under the part after
   * the first slash, because the part before may be a plugin's name.
   */
  readonly byText: Map<string, Candidate[]>;
  /** Rules with the entry `*`, which matches every resource. */
  readonly forAny: Candidate[];
  // Whether a rule has an entry of the form `*/S` or `R/*`.
  hasPatterns: boolean;
};

/**
 * An index of the rules of one role. A decision reads only rules with a matching group and resource, or with a matching
 * path, and parses no entries.
 */
export class RoleTable {
  readonly role: Role;
  /** The maximum `wildcardDepth` of the role's entries of `nonResourceURLs`; -1 if no entry ends with `/*`. */
  readonly pathDepth: number;
  readonly #groups = new Map<string, GroupTable>();
  readonly #anyGroup: GroupTable | undefined;
  readonly #paths = new Map<string, ReadyRule[]>();

  constructor(role: Role) {
    this.role = role;
    let pathDepth = -1;
    for (const [index, rule] of role.rules.entries()) {
      const names =
        rule.kind === 'resource' && rule.resourceNames !== undefined && rule.resourceNames.length > 0
          ? new NameSet(rule.resourceNames)
          : undefined;
      const ready: ReadyRule = {
        grant: { role: role.name, rule },
        place: index,
        anyVerb: rule.verbs.includes('*'),
        names,
      };
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

  /**
   * Returns the rules with a matching group and resource, in the order of the role's rules. A rule may appear twice.
   */
  candidates(request: RequestedResource): readonly Candidate[] {
    const found: Candidate[] = [];
    const text = resourceText(request.resource, request.subresource);
    const own = this.#groups.get(request.group);
    if (own !== undefined) collect(own, request, text, found);
    if (this.#anyGroup !== undefined && this.#anyGroup !== own) collect(this.#anyGroup, request, text, found);
    return found.length > 1 ? found.sort((left, right) => left.ready.place - right.ready.place) : found;
  }

  /**
   * Returns the first rule that allows the request; undefined without such a rule. `text` is the request's
   * `resourceText`.
   */
  findResource(decision: RuleDecision, text: string): Grant | undefined {
    const own = this.#groups.get(decision.request.group);
    const any = this.#anyGroup;
    let first = own === undefined ? undefined : firstIn(own, text, decision, undefined);
    if (any !== undefined && any !== own) first = firstIn(any, text, decision, first);
    return first?.grant;
  }

  /**
   * Returns the first rule that allows the request; undefined without such a rule. `texts` are the request's
   * `pathTexts`.
   */
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

type RequestedResource = Pick<ResourceRequest, 'group' | 'resource' | 'subresource'>;

function collect(
  table: GroupTable,
  { resource, subresource }: RequestedResource,
  text: string,
  found: Candidate[],
): void {
  found.push(...(table.byText.get(text) ?? none), ...table.forAny);
  if (!table.hasPatterns) return;
  for (const pattern of resourcePatterns(resource, subresource))
    found.push(...(table.byText.get(pattern) ?? none).filter(isOfAnyPlugin));
}

const none: readonly Candidate[] = [];

/**
 * Returns whether the rule applies to the types and routes of all plugins. For patterns of `resourcePatterns`, only
 * such rules match, because a `*` in an entry with a plugin's name is no wildcard.
 */
function isOfAnyPlugin({ plugin }: Candidate): boolean {
  return plugin === undefined;
}

/**
 * One decision. `owner` is the plugin that declares the type or route of the request: undefined without a plugin, and
 * null before the first call of `pluginOf`.
 */
export type RuleDecision = {
  readonly request: ResourceRequest;
  readonly pluginOf: (request: ResourceRequest) => string | undefined;
  owner: string | null | undefined;
};

function firstIn(
  table: GroupTable,
  text: string,
  decision: RuleDecision,
  best: ReadyRule | undefined,
): ReadyRule | undefined {
  let first = earlier(table.byText.get(text), decision, best);
  if (table.forAny.length > 0) first = earlier(table.forAny, decision, first);
  if (!table.hasPatterns || text === decision.request.resource) return first;
  const { resource, subresource } = decision.request;
  for (const pattern of resourcePatterns(resource, subresource))
    first = earlier(table.byText.get(pattern)?.filter(isOfAnyPlugin), decision, first);
  return first;
}

function earlier(
  candidates: readonly Candidate[] | undefined,
  decision: RuleDecision,
  best: ReadyRule | undefined,
): ReadyRule | undefined {
  if (candidates === undefined) return best;
  for (const candidate of candidates) {
    if (best !== undefined && candidate.ready.place >= best.place) return best;
    if (isGranted(candidate, decision)) return candidate.ready;
  }
  return best;
}

/**
 * Returns the plugin that must own the type or route so that the rule allows the request. Returns undefined if the
 * entry names no plugin, or if the rule does not allow the verb or the name.
 */
export function pluginNeeded({ ready, plugin }: Candidate, request: ResourceRequest): string | undefined {
  return plugin !== undefined && allows(ready, request) ? plugin : undefined;
}

/** Returns whether the rule allows a request with a matching group and resource. */
export function isGranted({ ready, plugin }: Candidate, decision: RuleDecision): boolean {
  if (!allows(ready, decision.request)) return false;
  if (plugin === undefined) return true;
  if (decision.owner === null) decision.owner = decision.pluginOf(decision.request);
  return decision.owner === plugin;
}

/** A non-resource rule may list the HTTP method instead of the verb (decision 6.4). */
function allowsVerb({ grant, anyVerb }: ReadyRule, { verb, method }: NonResourceRequest): boolean {
  return anyVerb || grant.rule.verbs.includes(verb) || grant.rule.verbs.includes(method);
}

/**
 * Returns whether the rule allows the verb and the name of the request. The name is in the path, or in the field
 * selector of a list or watch. A rule with names does not allow a request without a name.
 */
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
