import { Optional, type Environment, type ParseResult } from '@marcbachmann/cel-js';

import { messageOf } from '../../base/error-message.ts';
import { escapeToken } from '../../base/reference-token.ts';
import { ruleDepthMax, ruleMessageLengthMax, ruleNodesMax } from '../../limits/rules.ts';
import { costOf } from './rule-cost.ts';
import type { RuleDeclaration } from './rule-declaration.ts';
import { linearMatch, replaceMatches, type RulePatterns } from './rule-patterns.ts';
import type { Shape } from './rule-shape.ts';
import type { RuleField, RuleType } from './rule-types.ts';

/** A rule at one place of a schema. */
export type CompiledRule = {
  readonly declaration: RuleDeclaration;
  /** Whether the rule or its messageExpression reads the old value. */
  readonly isTransition: boolean;
  /** The maximum number of steps of one evaluation of the rule and its messageExpression. */
  readonly steps: number;
  /** The JSON pointer of a violation, relative to the value at the place of the rule. */
  readonly pointer: string;
  /**
   * Returns the detail of the violation if `self` violates the rule or the rule cannot be evaluated; otherwise
   * undefined. `self` and `oldSelf` are JSON values other than null; `oldSelf` is undefined if there is no old value.
   */
  readonly evaluate: (self: unknown, oldSelf: unknown) => string | undefined;
};

export type RuleResult =
  { readonly ok: true; readonly rule: CompiledRule } | { readonly ok: false; readonly problem: string };

export type RuleContext = {
  /** The CEL environment in which the types of the schema are declared. */
  readonly environment: Environment;
  readonly type: RuleType;
  readonly patterns: RulePatterns;
};

type Expression = {
  readonly run: ParseResult;
  readonly steps: number;
  readonly isTransition: boolean;
};
type ExpressionResult =
  { readonly ok: true; readonly expression: Expression } | { readonly ok: false; readonly problem: string };

/** Parses a rule, checks its types and estimates its cost. */
export function compileRule(declaration: RuleDeclaration, context: RuleContext): RuleResult {
  const pointer = pointerOf(declaration.fieldPath, context.type);
  if (pointer === undefined)
    return failed(`fieldPath ${JSON.stringify(declaration.fieldPath)} must name declared members: .name or ['name']`);
  const environment = environmentOf(declaration, context);
  const rule = compileExpression(declaration.rule, 'bool', { declaration, context, environment });
  if (!rule.ok) return rule;
  const { messageExpression } = declaration;
  const message =
    messageExpression === undefined
      ? undefined
      : compileExpression(messageExpression, 'string', { declaration, context, environment });
  if (message?.ok === false) return failed(`messageExpression: ${message.problem}`);
  const { run, steps, isTransition } = rule.expression;
  return {
    ok: true,
    rule: {
      declaration,
      isTransition: isTransition || message?.expression.isTransition === true,
      steps: steps + (message?.expression.steps ?? 0),
      pointer,
      evaluate: evaluation(declaration, context.type, { run, describe: message?.expression.run }),
    },
  };
}

function failed(problem: string): { readonly ok: false; readonly problem: string } {
  return { ok: false, problem };
}

function environmentOf(
  { optionalOldSelf }: RuleDeclaration,
  { environment, type, patterns }: RuleContext,
): Environment {
  return environment
    .clone({
      homogeneousAggregateLiterals: false,
      enableOptionalTypes: optionalOldSelf === true,
      limits: { maxAstNodes: ruleNodesMax, maxDepth: ruleDepthMax },
    })
    .registerFunction(
      `string.${linearMatch}(string): bool`,
      (text: string, pattern: string) => patterns.isMatch(text, pattern),
      { async: false },
    )
    .registerVariable('self', type.name)
    .registerVariable('oldSelf', optionalOldSelf === true ? `optional<${type.name}>` : type.name);
}

type Compiling = {
  readonly declaration: RuleDeclaration;
  readonly context: RuleContext;
  readonly environment: Environment;
};

function compileExpression(text: string, result: string, compiling: Compiling): ExpressionResult {
  const { declaration, context, environment } = compiling;
  let run: ParseResult;
  try {
    run = environment.parse(text);
  } catch (error) {
    return failed(`does not parse${placeOf(error, text)}: ${syntaxFault(error)}`);
  }
  const { shape } = context.type;
  const old: Shape = declaration.optionalOldSelf === true ? { kind: 'optional', item: shape } : shape;
  const variables = new Map([
    ['self', shape],
    ['oldSelf', old],
  ]);
  const cost = costOf(run.ast, variables, context.patterns);
  if (!cost.ok) return failed(cost.problem);
  replaceMatches(run.ast);
  const checked = run.check();
  if (!checked.valid)
    return failed(
      `fails the type check${placeOf(checked.error, text)}: ${summaryOf(checked.error)}; compare values of one type, ` +
        'or convert one, as by int(…), double(…), string(…) or size(…)',
    );
  if (checked.type !== result)
    return failed(`must have the type ${result}, but has ${String(checked.type)}; compare or convert the value`);
  return { ok: true, expression: { run, steps: cost.steps, isTransition: cost.usesOld } };
}

type Runs = {
  readonly run: ParseResult;
  readonly describe: ParseResult | undefined;
};

function evaluation(declaration: RuleDeclaration, type: RuleType, { run, describe }: Runs): CompiledRule['evaluate'] {
  const { rule, message, optionalOldSelf } = declaration;
  const fallback = message ?? `failed rule: ${rule}`;
  return (self, oldSelf) => {
    const old = oldSelf === undefined ? undefined : type.convert(oldSelf);
    const variables = { self: type.convert(self), oldSelf: optionalOldSelf === true ? Optional.of(old) : old };
    return withoutStacks(() => {
      try {
        if (run(variables) === true) return undefined;
      } catch (error) {
        return `the rule cannot be evaluated: ${rule}: ${summaryOf(error)}`;
      }
      return (describe === undefined ? undefined : describedBy(describe, variables)) ?? fallback;
    });
  };
}

/**
 * Calls `evaluate` with stack traces of errors turned off. An evaluation may throw and catch an error for each item of
 * a list, and is three times as fast without stack traces.
 */
function withoutStacks<T>(evaluate: () => T): T {
  const limit = Error.stackTraceLimit;
  Error.stackTraceLimit = 0;
  try {
    return evaluate();
  } finally {
    Error.stackTraceLimit = limit;
  }
}

/**
 * Returns the result of a messageExpression; undefined if the expression fails, or does not give a single line of text.
 */
function describedBy(describe: ParseResult, variables: Readonly<Record<string, unknown>>): string | undefined {
  try {
    const text: unknown = describe(variables);
    if (typeof text !== 'string' || text.trim() === '' || /[\r\n]/u.test(text)) return undefined;
    return text.slice(0, ruleMessageLengthMax);
  } catch {
    return undefined;
  }
}

/** Returns the message of an error of the CEL library, without the excerpt of the rule that marks the place. */
function summaryOf(error: unknown): string {
  const summary: unknown =
    typeof error === 'object' && error !== null && 'summary' in error ? error.summary : undefined;
  return (typeof summary === 'string' ? summary : messageOf(error)).replaceAll(linearMatch, 'matches');
}

/** Returns the place of an error in the expression, as ` at column 3, before "> 4"`; '' if the place is unknown. */
function placeOf(error: unknown, text: string): string {
  const range: unknown = typeof error === 'object' && error !== null && 'range' in error ? error.range : undefined;
  const start: unknown = typeof range === 'object' && range !== null && 'start' in range ? range.start : undefined;
  if (typeof start !== 'number') return '';
  const rest = text.slice(start);
  const shown = rest.length > placeLengthMax ? `${rest.slice(0, placeLengthMax)}…` : rest;
  return ` at column ${String(start + 1)}${rest.trim() === '' ? ', at its end' : `, at ${JSON.stringify(shown)}`}`;
}

const placeLengthMax = 24;

function syntaxFault(error: unknown): string {
  const summary = summaryOf(error);
  if (/: EOF$|got EOF$/u.test(summary)) return 'the expression is incomplete: complete it';
  if (/character: =$/u.test(summary)) return 'a single "=" is no operator: compare by "=="';
  if (summary.startsWith('Unterminated string')) return 'a string has no end: add the closing quote';
  return `${summary}: correct the CEL expression there`;
}

const step = /^(?:\.([A-Za-z_][A-Za-z0-9_-]*)|\['((?:[^'\\]|\\.)+)'\])/u;

/**
 * Converts a path such as `.spec.title` or `.labels['a.b']` to a JSON pointer. Returns undefined if the path is
 * malformed, or the type declares no such member.
 */
function pointerOf(fieldPath: string | undefined, type: RuleType): string | undefined {
  let rest = fieldPath ?? '';
  let pointer = '';
  let at: RuleType | undefined = type;
  while (rest !== '') {
    const found = step.exec(rest);
    if (found === null) return undefined;
    const member = found[1] ?? (found[2] ?? '').replaceAll(/\\(.)/gu, '$1');
    if (at !== undefined && at.fields !== undefined) {
      const field: RuleField | undefined = [...at.fields.values()].find((source) => source.member === member);
      if (field === undefined) return undefined;
      at = field.type();
    } else if (at !== undefined && at.shape.kind !== 'map' && at.shape.kind !== 'any') return undefined;
    else at = undefined;
    pointer += `/${escapeToken(member)}`;
    rest = rest.slice(found[0].length);
  }
  return pointer;
}
