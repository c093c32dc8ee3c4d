import type { ASTNode } from '@marcbachmann/cel-js';

import { otherWords } from '../schema/suggestions.ts';
import {
  failing,
  failingOperators,
  functions,
  operatorCost,
  optionalFunctions,
  type CallCost,
} from './function-costs.ts';
import type { RulePatterns } from './rule-patterns.ts';
import { anything, countOf, itemOf, lengthOf, rangeOf, scalar, widest, type Shape } from './rule-shape.ts';

export type RuleCost =
  /** `usesOld`: whether the rule reads `oldSelf`. */
  | { readonly ok: true; readonly steps: number; readonly usesOld: boolean }
  | { readonly ok: false; readonly problem: string };

type Scope = ReadonlyMap<string, Shape>;
type Simple = 'value' | 'id' | '.' | '.?' | '[]' | '[?]' | 'call' | 'rcall';
type Composed = Exclude<ASTNode, { readonly op: Simple }>;

/** The rule cannot be accepted. The message gives the reason. */
class RefusedRuleError extends Error {}

/**
 * Returns an upper bound of the steps of an evaluation: one step for each visit of a node of the syntax tree, and more
 * for longer work in a node. `variables`: the shapes of `self` and `oldSelf`.
 */
export function costOf(tree: ASTNode, variables: Scope, patterns: RulePatterns): RuleCost {
  const estimate = new CostEstimate(patterns, tree.input.length);
  try {
    return {
      ok: true,
      steps: Math.ceil(estimate.of(tree, variables).steps),
      usesOld: estimate.usesOld,
    };
  } catch (error) {
    if (error instanceof RefusedRuleError) return { ok: false, problem: error.message };
    throw error;
  }
}

const quantifiers: ReadonlySet<string> = new Set(['all', 'exists', 'exists_one']);
const macros: readonly string[] = [...quantifiers, 'map', 'filter'];
/** The steps of a macro for each item, without the macro's body. Most of these steps convert the item. */
const itemSteps = 15;

/**
 * The steps of one error during an evaluation. An evaluation may have many errors, because a macro continues with the
 * next item after an error, and `||` with its other side. The CEL library formats the rule's text for each error.
 */
const failureSteps = 80;
const charactersDrawnInStep = 4;

class CostEstimate {
  usesOld = false;
  readonly #patterns: RulePatterns;
  readonly #failure: number;

  constructor(patterns: RulePatterns, textLength: number) {
    this.#patterns = patterns;
    this.#failure = failureSteps + textLength / charactersDrawnInStep;
  }

  of(node: ASTNode, scope: Scope): CallCost {
    switch (node.op) {
      case 'value':
        return { steps: 1, shape: shapeOfLiteral(node.args) };
      case 'id':
        return this.#variable(node.args, scope);
      case '.':
      case '.?':
        return this.#field(node.args, scope);
      case '[]':
      case '[?]':
        return this.#index(node.args, scope);
      case 'call':
        return this.#call(node.args, scope);
      case 'rcall':
        return this.#method(node.args, scope);
      default:
        return this.#composed(node, scope);
    }
  }

  /** Returns the cost of a literal with several values, or of an operator. */
  #composed(node: Composed, scope: Scope): CallCost {
    switch (node.op) {
      case 'list':
        return this.#list(node.args, scope);
      case 'map':
        return this.#map(node.args, scope);
      case '?:':
        return this.#choice(node.args, scope);
      case '!_':
      case '-_':
        return { steps: 1 + this.of(node.args, scope).steps, shape: scalar };
      default:
        return this.#operator(node.op, node.args, scope);
    }
  }

  #variable(name: string, scope: Scope): CallCost {
    if (name === 'oldSelf') this.usesOld = true;
    return { steps: 1, shape: scope.get(name) ?? anything };
  }

  #field([object, name]: readonly [ASTNode, string], scope: Scope): CallCost {
    const { steps, shape } = this.of(object, scope);
    const isCertain = shape.kind === 'object' && shape.fields.get(name)?.isCertain === true;
    return { steps: steps + 4 + (isCertain ? 0 : this.#failure), shape: fieldOf(shape, name) };
  }

  #index([list, key]: readonly [ASTNode, ASTNode], scope: Scope): CallCost {
    const from = this.of(list, scope);
    const { steps } = this.of(key, scope);
    const shape =
      from.shape.kind === 'object' && key.op === 'value' ? fieldOf(from.shape, String(key.args)) : itemOf(from.shape);
    return { steps: from.steps + steps + 4 + this.#failure, shape };
  }

  #call([name, args]: readonly [string, readonly ASTNode[]], scope: Scope): CallCost {
    if (name === 'has') return this.#presence(args, scope);
    return this.#function(name, args, scope);
  }

  #presence([member]: readonly ASTNode[], scope: Scope): CallCost {
    if (member?.op !== '.') throw new RefusedRuleError('has() needs a member as its argument: has(self.name)');
    const [object, name] = member.args;
    const { steps, shape } = this.of(object, scope);
    fieldOf(shape, name);
    return { steps: steps + 6, shape: scalar };
  }

  #method([name, receiver, args]: readonly [string, ASTNode, readonly ASTNode[]], scope: Scope): CallCost {
    if (name === 'bind' && receiver.op === 'id' && receiver.args === 'cel') return this.#bind(args, scope);
    if (macros.includes(name)) return this.#comprehension(name, [receiver, ...args], scope);
    if (name === 'matches') return this.#match(receiver, args, scope);
    return this.#function(name, [receiver, ...args], scope);
  }

  #function(name: string, args: readonly ASTNode[], scope: Scope): CallCost {
    const costOfCall = functions.get(name) ?? optionalFunctions.get(name);
    const known = [...functions.keys(), ...macros, 'has', 'matches'];
    if (costOfCall === undefined) throw new RefusedRuleError(`there is no function ${name}${otherWords(name, known)}`);
    const { steps, shapes } = this.#sum(args, scope);
    const [first = scalar, ...others] = shapes;
    const called = costOfCall([first, ...others]);
    const mayFail = failing.has(name) || shapes.some(({ kind }) => kind === 'any');
    return { steps: steps + called.steps + (mayFail ? this.#failure : 0), shape: called.shape };
  }

  #match(receiver: ASTNode, args: readonly ASTNode[], scope: Scope): CallCost {
    const [pattern] = args;
    if (pattern?.op !== 'value' || typeof pattern.args !== 'string')
      throw new RefusedRuleError(
        'the pattern of matches() must be a text in quotes, so that its cost can be estimated',
      );
    const { steps, shape } = this.of(receiver, scope);
    const match = this.#patterns.matchCost(pattern.args, lengthOf(shape));
    if (!match.ok) throw new RefusedRuleError(match.problem);
    return { steps: steps + match.steps, shape: scalar };
  }

  #bind([name, value, body]: readonly ASTNode[], scope: Scope): CallCost {
    if (name?.op !== 'id' || value === undefined || body === undefined)
      throw new RefusedRuleError('cel.bind() needs a name, a value and an expression');
    const bound = this.of(value, scope);
    const result = this.of(body, new Map([...scope, [name.args, bound.shape]]));
    return { steps: bound.steps + result.steps + 4, shape: result.shape };
  }

  /** Returns the cost of a macro, which visits the items of a list or the keys of a map. */
  #comprehension(macro: string, [receiver, name, ...bodies]: readonly ASTNode[], scope: Scope): CallCost {
    if (receiver === undefined || name?.op !== 'id' || bodies.length === 0)
      throw new RefusedRuleError(`${macro}() needs a variable and an expression`);
    const range = this.of(receiver, scope);
    const inner = new Map([...scope, [name.args, rangeOf(range.shape)]]);
    const each = this.#sum(bodies, inner);
    const count = countOf(range.shape);
    const steps = range.steps + itemSteps + count * (itemSteps + each.steps);
    if (quantifiers.has(macro)) return { steps, shape: scalar };
    const item = macro === 'map' ? (each.shapes.at(-1) ?? anything) : rangeOf(range.shape);
    return { steps, shape: { kind: 'list', count, item } };
  }

  #list(items: readonly ASTNode[], scope: Scope): CallCost {
    const { steps, shapes } = this.#sum(items, scope);
    const [first = scalar, ...rest] = shapes;
    return {
      steps: steps + 2 + items.length,
      shape: {
        kind: 'list',
        count: items.length,
        item: rest.reduce(widest, first),
      },
    };
  }

  #map(entries: readonly (readonly [ASTNode, ASTNode])[], scope: Scope): CallCost {
    const keys = this.#sum(
      entries.map(([key]) => key),
      scope,
    );
    const values = this.#sum(
      entries.map(([, value]) => value),
      scope,
    );
    const [key = scalar, ...keysLeft] = keys.shapes;
    const [value = scalar, ...valuesLeft] = values.shapes;
    return {
      steps: keys.steps + values.steps + 2 + 4 * entries.length,
      shape: {
        kind: 'map',
        count: entries.length,
        key: keysLeft.reduce(widest, key),
        item: valuesLeft.reduce(widest, value),
      },
    };
  }

  #choice([condition, yes, no]: readonly [ASTNode, ASTNode, ASTNode], scope: Scope): CallCost {
    const [asked, left, right] = [this.of(condition, scope), this.of(yes, scope), this.of(no, scope)];
    return { steps: 1 + asked.steps + Math.max(left.steps, right.steps), shape: widest(left.shape, right.shape) };
  }

  #operator(operator: string, [left, right]: readonly [ASTNode, ASTNode], scope: Scope): CallCost {
    const [one, other] = [this.of(left, scope), this.of(right, scope)];
    const { steps, shape } = operatorCost(operator, one.shape, other.shape);
    const mayFail = [one.shape, other.shape].some(({ kind }) => kind === 'any') || failingOperators.has(operator);
    return { steps: one.steps + other.steps + steps + (mayFail ? this.#failure : 0), shape };
  }

  #sum(nodes: readonly ASTNode[], scope: Scope): { readonly steps: number; readonly shapes: readonly Shape[] } {
    const costs = nodes.map((node) => this.of(node, scope));
    return { steps: costs.reduce((sum, { steps }) => sum + steps, 0), shapes: costs.map(({ shape }) => shape) };
  }
}

function fieldOf(shape: Shape, name: string): Shape {
  if (shape.kind === 'optional') return { kind: 'optional', item: fieldOf(shape.item, name) };
  if (shape.kind !== 'object') return itemOf(shape);
  const field = shape.fields.get(name);
  if (field === undefined)
    throw new RefusedRuleError(
      `the schema of the value declares no member ${JSON.stringify(name)}${otherWords(name, [...shape.fields.keys()])}`,
    );
  return field.shape();
}

function shapeOfLiteral(value: unknown): Shape {
  if (typeof value === 'string') return { kind: 'text', length: value.length };
  return value instanceof Uint8Array ? { kind: 'text', length: value.length } : scalar;
}
