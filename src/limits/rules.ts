/**
 * Limits of the rules of a schema (`x-kubernetes-validations`) and of the hooks of types. Each name contains its unit.
 *
 * The cost of a rule is an upper bound of the steps of its evaluation, computed from the schema. A step takes 30 to 50
 * ns on a processor of 2020, and up to 400 ns in the first evaluation of the costliest functions. The steps of all
 * rules of a schema together are limited, so that one evaluation of the rules blocks the event loop for less than 50
 * ms.
 */

/** The most steps of one rule, in all places of an object together. */
export const ruleCostStepsMax = 100_000;
/** The most steps of all rules of a schema together. */
export const schemaRulesCostStepsMax = 100_000;
/** The maximum length of the expressions of a rule: `rule` and `messageExpression`. */
export const ruleLengthMax = 4_096;
/** The maximum length of the other texts of a rule, such as `message`. */
export const ruleMessageLengthMax = 1_024;
/** The most nodes of the syntax tree of a rule, and their deepest nesting. */
export const ruleNodesMax = 1_000;
export const ruleDepthMax = 64;
/**
 * The most rules of a schema. If `$ref` applies a part of the schema at several places, the rules of this part are
 * counted at each place.
 */
export const rulesPerSchemaMax = 512;
/** The most instructions of a compiled regular expression, in which repetitions such as `{100}` are expanded. */
export const ruleProgramInstructionsMax = 2_000;

/**
 * A call of a hook, a conversion or a migration that takes longer than this time is logged, because all other requests
 * wait during the call.
 */
export const hookMs = 5;
/** The shortest time between two log lines about slow calls of the same function. */
export const slowHookLogMs = 60_000;
/**
 * The maximum length of the pointer and of the detail of a violation that a hook returns. The same limit applies to the
 * message of an error that a hook, a conversion or a migration throws.
 */
export const hookDetailLengthMax = 1_024;
/**
 * The most JSON values in an object that a hook, a conversion or a migration returns. An object of the allowed size
 * cannot have more values.
 */
export const hookValuesMax = 400_000;
