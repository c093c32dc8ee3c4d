/** The members of Kubernetes' conditions, for the status of a type. */
export const conditionMembers = {
  type: { type: 'string', description: 'The aspect that the condition is about.' },
  status: { enum: ['True', 'False', 'Unknown'], description: 'Whether the condition holds.' },
  reason: { type: 'string', description: 'The cause of the status, as one word.' },
  message: { type: 'string', description: 'The cause of the status, as a text.' },
  lastTransitionTime: {
    type: 'string',
    format: 'date-time',
    description: 'The time of the last change of the status.',
  },
} as const;
