import type { Json } from '../../harness/http'

/**
 * Bodies that are good as far as can be said without the object, for routes that no description has
 * an example for. Without one, a route is called with `{}`.
 */
export const bodies: Readonly<Record<string, Json>> = {
  'POST /api/admin/users': { email: 'matrix@example.com' },
  'PUT /api/admin/users/:id': { display_name: 'Another' },
  'POST /api/admin/users/:id/suspend': { reason: 'A test.' },
  'POST /api/admin/users/:id/keys': { name: 'One' },
  'PUT /api/admin/users/:id/keys/:key_id': { name: 'Another' },
  'POST /api/admin/plans': { name: 'Matrix' },
  'PUT /api/admin/organizations/:id': { description: 'Changed.' },
  'PUT /api/admin/audit-destinations/:id': { name: 'Another' },
  'PUT /api/admin/scim-directories/:id': { name: 'Another' },
  'PUT /api/admin/plans/:id': { requests_per_minute: 7 },
  'POST /api/admin/providers': { key: 'matrix', name: 'Matrix', adapter: 'openai' },
  'PUT /api/admin/providers/:id': { name: 'Another' },
  'PUT /api/admin/models/:id': { name: 'Another' },
  'PUT /api/admin/models/:id/prices': { pricing: { input: 2, output: 8 } },
  'PUT /api/admin/connections/:id': { name: 'Another' },
  'POST /api/admin/connections/:id/update-key': { api_key: 'sk-9876543210' },
  'PUT /api/admin/collections/:id': { display_name: 'Another' },
  'PUT /api/admin/tickets/:id': { priority: 'high' },
  'POST /api/admin/tickets/:id/comments': { content: 'Because.' },
  'PUT /api/admin/config': { platform_fee_percent: 0 },
}

/** Open to all callers: nothing there belongs to an account, or it brings a proof of its own. */
export const openRoutes: readonly RegExp[] = [
  // The pages of the dashboard, which show nothing without a session.
  /^GET \/\*$/,
  /^GET \/(healthz|readyz|docs|docs\/:file|openapi(-operator)?\.json)$/,
  // Source: contract 2.5, 9.4: a session that is being made; a signature of the payment processor.
  /^\w+ \/api\/(auth|webhooks)\//,
  // Source: contract 2.6: the token of a directory.
  /^\w+ \/scim\/v2\//,
]

/** Routes that refuse even whose object it is, and why. */
export const refusesOwner: Readonly<Record<string, string>> = {
  'POST /api/organizations/:id/join': 'a private one is not there for who would join it',
}
