/** The members of a link's spec that all versions share. */
export const sharedMembers = {
  slug: { type: 'string', pattern: '^[a-z0-9]+(-[a-z0-9]+)*$', maxLength: 63 },
  groupName: { type: 'string', minLength: 1, maxLength: 253 },
  title: { type: 'string', minLength: 1, maxLength: 200 },
  owner: { type: 'string', minLength: 1, maxLength: 253 },
  tags: { type: 'array', maxItems: 20, items: { type: 'string', minLength: 1, maxLength: 50 } },
  priority: { type: 'integer', minimum: 0, maximum: 100, default: 50 },
  goneSeconds: { type: 'integer', minimum: 0, maximum: 86_400, default: 60 },
  validFrom: { type: 'string', format: 'date-time', maxLength: 40 },
  validUntil: { type: 'string', format: 'date-time', maxLength: 40 },
} as const;

export const periodRule = {
  rule: '!has(self.validFrom) || !has(self.validUntil) || timestamp(self.validFrom) < timestamp(self.validUntil)',
  message: 'must be after validFrom',
  fieldPath: '.validUntil',
} as const;

export const status = { type: 'object', properties: { clicks: { type: 'integer', minimum: 0 } } } as const;
