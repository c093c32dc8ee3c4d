/** The schemas of a condition's members, as in Kubernetes, for types with conditions in the status. */
export const conditionMembers = {
  type: { type: 'string', description: 'The aspect that the condition describes.' },
  status: { enum: ['True', 'False', 'Unknown'], description: 'Whether the condition is true.' },
  reason: { type: 'string', description: 'The cause of the status, as one CamelCase word.' },
  message: { type: 'string', description: 'The cause of the status, as a text.' },
  lastTransitionTime: {
    type: 'string',
    format: 'date-time',
    description: 'The time of the last change of the status.',
  },
} as const;
