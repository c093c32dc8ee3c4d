import { Environment } from '@marcbachmann/cel-js';

import { isObject } from '../../base/guards.ts';
import { objectBytesMax } from '../../limits/objects.ts';
import { ruleCostStepsMax, rulesPerSchemaMax, schemaRulesCostStepsMax } from '../../limits/rules.ts';
import type { Schema } from '../schema/schema-check.ts';
import { leadingTo, rootPlace, SchemaGraph, testPlaces, type Place } from '../schema/structural.ts';
import { compileRule, type CompiledRule } from './compile-rule.ts';
import { ruleViolations } from './evaluate-rules.ts';
import { decodeRules, rulesKeyword, type RuleDeclaration } from './rule-declaration.ts';
import { RulePatterns } from './rule-patterns.ts';
import { countOf } from './rule-shape.ts';
import type { RuleNode, RulePart } from './rule-tree.ts';
import { RuleTypes, type RuleType } from './rule-types.ts';
import type { SchemaRules } from '../type/resource-type.ts';

export type RulesResult =
  /** `rules` is undefined for a schema without rules. */
  | { readonly ok: true; readonly rules: SchemaRules | undefined }
  | { readonly ok: false; readonly problems: readonly string[] };

/**
 * Compiles the rules of a type's schema (`x-kubernetes-validations`). Refuses rules that are invalid, that have no
 * effect at their place, or that may take too long.
 */
export function compileRules(schema: Schema): RulesResult {
  const graph = new SchemaGraph(schema);
  const leading = leadingTo(graph, hasRules);
  const misplaced = testPlaces(graph)
    .filter((place) => hasRules(place.schema))
    .map(
      ({ at, keyword }) =>
        `${at}${rulesKeyword}: has no effect below ${keyword}, which only tests a value; ` +
        'move the rules to properties, items, additionalProperties or allOf',
    );
  if (misplaced.length > 0) return { ok: false, problems: misplaced };
  if (!leading.has(schema) && !hasRules(schema)) return { ok: true, rules: undefined };
  const walk = new RuleWalk(graph, leading);
  const root = walk.root();
  const problems = walk.problems.length > 0 ? walk.problems : walk.compile();
  if (problems.length > 0) return { ok: false, problems };
  return {
    ok: true,
    rules: { hasTransitions: walk.hasTransitions, violations: (change) => ruleViolations(root, change) },
  };
}

function hasRules(schema: Schema): boolean {
  return schema[rulesKeyword] !== undefined;
}

/** The path from the root of a schema to a place. */
type Way = {
  /** The maximum number of values at the place in one object. */
  readonly count: number;
  /** Whether at most one old value corresponds to each value at the place. Otherwise, rules cannot read `oldSelf`. */
  readonly isCorrelated: boolean;
  /** The schemas from the root to the place, to detect a schema that contains itself. */
  readonly schemas: readonly Schema[];
};

/** A rule to compile after all types are declared, and the list to which the compiled rule is added. */
type Site = {
  readonly declaration: RuleDeclaration;
  readonly at: string;
  readonly type: RuleType;
  readonly way: Way;
  readonly into: CompiledRule[];
};

class RuleWalk {
  readonly problems: string[] = [];
  hasTransitions = false;
  readonly #graph: SchemaGraph;
  readonly #leading: ReadonlySet<Schema>;
  readonly #environment = new Environment({ homogeneousAggregateLiterals: false });
  readonly #types: RuleTypes;
  readonly #sites: Site[] = [];

  constructor(graph: SchemaGraph, leading: ReadonlySet<Schema>) {
    this.#graph = graph;
    this.#leading = leading;
    this.#types = new RuleTypes(graph, this.#environment);
  }

  root(): RuleNode {
    const place = rootPlace(this.#graph);
    return this.#node(place, this.#types.rootType(place), { count: 1, isCorrelated: true, schemas: [] });
  }

  /** Compiles the collected rules. Returns their problems. */
  compile(): readonly string[] {
    const patterns = new RulePatterns();
    const problems: string[] = [];
    let total = 0;
    for (const { declaration, at, type, way, into } of this.#sites) {
      const compiled = compileRule(declaration, { environment: this.#environment, type, patterns });
      const problem = compiled.ok ? siteProblem(compiled.rule, way) : compiled.problem;
      if (problem !== undefined) problems.push(`${at}: the rule ${JSON.stringify(declaration.rule)}: ${problem}`);
      if (!compiled.ok) continue;
      total += compiled.rule.steps * way.count;
      this.hasTransitions ||= compiled.rule.isTransition;
      into.push(compiled.rule);
    }
    if (problems.length === 0 && total > schemaRulesCostStepsMax)
      problems.push(
        `${rulesKeyword}: all rules together may take ${String(total)} steps, at most ` +
          `${String(schemaRulesCostStepsMax)} are allowed${remedy}`,
      );
    return problems;
  }

  #node(place: Place, type: RuleType, way: Way): RuleNode {
    const rules: CompiledRule[] = [];
    const conjuncts = this.#graph.conjuncts(place);
    for (const { at, schema } of conjuncts) if (hasRules(schema)) this.#collect({ at, schema, type, way, into: rules });
    const schemas = [...way.schemas, ...conjuncts.map(({ schema }) => schema)];
    const parts = conjuncts
      .filter(({ schema }) => this.#leading.has(schema))
      .map((conjunct) => this.#part(conjunct, type, { ...way, schemas }));
    return { rules, parts };
  }

  #collect({ at, schema, ...site }: Omit<Site, 'declaration'> & { readonly schema: Schema }): void {
    const declarations = decodeRules(schema[rulesKeyword], `${at}${rulesKeyword}`, this.problems);
    for (const [index, declaration] of declarations.entries())
      this.#sites.push({ ...site, declaration, at: `${at}${rulesKeyword}[${String(index)}]` });
    if (this.#sites.length > rulesPerSchemaMax)
      this.problems.push(`${at}${rulesKeyword}: a schema has at most ${String(rulesPerSchemaMax)} rules`);
  }

  #part(place: Place, type: RuleType, way: Way): RulePart {
    const { schema, at } = place;
    for (const keyword of ['patternProperties', 'prefixItems'])
      for (const edge of this.#graph.edges(place))
        if (edge.keyword === keyword && this.#isRuled(edge))
          this.problems.push(`${edge.at}${rulesKeyword}: rules are not possible below ${keyword}`);
    const names = isObject(schema['properties']) ? Object.keys(schema['properties']) : [];
    const isAtomic = schema['x-kubernetes-map-type'] === 'atomic';
    const keys = this.#keysOf(schema, at);
    const inner = { ...way, isCorrelated: way.isCorrelated && !isAtomic };
    const many = { ...inner, count: Math.min(way.count * countOf(type.shape), objectBytesMax) };
    return {
      members: names.flatMap((name): [string, RuleNode][] => {
        const node = this.#inner(this.#graph.inner(place, 'properties', name), inner);
        return node === undefined ? [] : [[name, node]];
      }),
      declared: new Set(names),
      additional: this.#inner(this.#graph.inner(place, 'additionalProperties'), many),
      items: this.#inner(this.#graph.inner(place, 'items'), {
        ...many,
        isCorrelated: way.isCorrelated && keys !== undefined,
      }),
      keys,
      isAtomic,
    };
  }

  #inner(place: Place | undefined, way: Way): RuleNode | undefined {
    if (place === undefined || !this.#isRuled(place) || this.problems.length > 0) return undefined;
    if (!this.#graph.conjuncts(place).some(({ schema }) => way.schemas.includes(schema)))
      return this.#node(place, this.#types.typeOf(place), way);
    this.problems.push(
      `${place.at}$ref: a schema that contains itself cannot have rules, because the nesting of objects is not limited`,
    );
    return undefined;
  }

  #isRuled(place: Place): boolean {
    return this.#graph.conjuncts(place).some(({ schema }) => hasRules(schema) || this.#leading.has(schema));
  }

  /** Returns the keys of a list with `x-kubernetes-list-type: map`. Adds a problem if the keys are invalid. */
  #keysOf(schema: Schema, at: string): readonly string[] | undefined {
    if (schema['x-kubernetes-list-type'] !== 'map') return undefined;
    const keys = schema['x-kubernetes-list-map-keys'];
    if (Array.isArray(keys) && keys.length > 0 && keys.every((key) => typeof key === 'string')) return keys;
    this.problems.push(`${at}x-kubernetes-list-map-keys: must be the names of the members that identify an item`);
    return undefined;
  }
}

const remedy =
  ': set maxItems, maxLength and maxProperties, or lower them, for the values that rules read and for the lists and ' +
  'maps that contain these values';

function siteProblem(rule: CompiledRule, { count, isCorrelated }: Way): string | undefined {
  if (rule.isTransition && !isCorrelated)
    return (
      'oldSelf cannot be used in items of a list or members of an atomic map, because they correspond to no old ' +
      'value; move the rule above the list or map, or declare x-kubernetes-list-type: map and ' +
      'x-kubernetes-list-map-keys for the list'
    );
  const steps = rule.steps * count;
  if (steps <= ruleCostStepsMax) return undefined;
  const times = count === 1 ? '' : `, ${String(rule.steps)} for each of ${String(count)} values`;
  return `may take ${String(steps)} steps${times}; at most ${String(ruleCostStepsMax)} are allowed${remedy}`;
}
