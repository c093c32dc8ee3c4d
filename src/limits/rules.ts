/**
 * Limits of the rules of a schema (`x-kubernetes-validations`) and of the hooks of types.
 *
 * The cost of a rule is an upper bound of the steps of its evaluation. A step takes 30 to 50 ns on a processor of 2020.
 * In the first evaluation, a step of the costliest functions takes up to 400 ns. With the limits of the steps, one
 * evaluation of a schema's rules blocks the event loop for less than 50 ms.
 */

/** The most steps of one rule, summed over all places of an object to which the rule applies. */
export const ruleCostStepsMax = 100_000;
/** The most steps of all rules of a schema together. */
export const schemaRulesCostStepsMax = 100_000;
/** The maximum length of `rule` and of `messageExpression`. */
export const ruleLengthMax = 4_096;
/** The maximum length of the other texts of a rule, such as `message`. */
export const ruleMessageLengthMax = 1_024;
/** The most nodes of the syntax tree of a rule. */
export const ruleNodesMax = 1_000;
/** The deepest nesting of the syntax tree of a rule. */
export const ruleDepthMax = 64;
/**
 * The most rules of a schema. If `$ref` applies a part of the schema at several places, its rules are counted at each
 * place.
 */
export const rulesPerSchemaMax = 512;
/** The most instructions of a compiled regular expression, in which repetitions such as `{100}` are expanded. */
export const ruleProgramInstructionsMax = 2_000;

/**
 * A call of a hook, a conversion or a migration that takes longer is logged: all other requests wait during the call.
 */
export const hookMs = 5;
/** The shortest time between two log lines about slow calls of the same function. */
export const slowHookLogMs = 60_000;
/**
 * The maximum length of the pointer, and of the detail, of a violation that a hook returns. The same limit applies to
 * the message of an error that a hook, a conversion or a migration throws.
 */
export const hookDetailLengthMax = 1_024;
/**
 * The most JSON values in an object that a hook, a conversion or a migration returns. Objects of the allowed size have
 * fewer.
 */
export const hookValuesMax = 400_000;
