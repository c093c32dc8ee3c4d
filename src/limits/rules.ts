/**
 * Limits of the rules of a schema (`x-kubernetes-validations`) and of the hooks of types. Each name ends in its unit.
 * Each limit is tested at n and n + 1, and its error states it.
 *
 * The cost of a rule is an upper bound, computed from the schema. A step is one operator, field or call: 30 to 50 ns on
 * a processor of 2020, and up to 400 ns for the costliest functions in their first evaluation. The rules of one write
 * hold the event loop for less than 50 ms only if all of them together have this limit.
 */

/** One rule, at all places of an object together. */
export const ruleCostStepsMax = 100_000;
/** All rules of a schema. */
export const schemaRulesCostStepsMax = 100_000;
/** The text of a rule or of a messageExpression. */
export const ruleLengthMax = 4_096;
/** The text of a message. */
export const ruleMessageLengthMax = 1_024;
/** The nodes of the syntax tree of a rule, and their nesting. */
export const ruleNodesMax = 1_000;
export const ruleDepthMax = 64;
/** Rules of a schema, counted at each place that a reference brings them to. */
export const rulesPerSchemaMax = 512;
/** The instructions of a compiled regular expression, after repetitions such as `{100}` are written out. */
export const ruleProgramInstructionsMax = 2_000;

/** The time after which a call of a hook is logged: a decision holds the event loop, and other requests wait. */
export const hookMs = 5;
/** The shortest time between two such lines of one hook. */
export const slowHookLogMs = 60_000;
/** A hook's text about a violation. */
export const hookDetailLengthMax = 1_024;
/** The values of an object that a hook returns; an object of the allowed size has no more. */
export const hookValuesMax = 400_000;
