/** Names of operators' actions, by method and route below `/api/admin`. */
const actionNames: Readonly<Record<string, string>> = {
  'PUT /config': 'Update configuration',
  'PUT /branding': 'Update branding',
  'PUT /organizations/:id': 'Update organization',
  'DELETE /organizations/:id': 'Delete organization',
  'POST /users': 'Create account',
  'PUT /users/:id': 'Update account',
  'DELETE /users/:id': 'Delete account',
  'GET /users/:id/export': 'Export account data',
  'POST /users/:id/suspend': 'Suspend account',
  'POST /users/:id/reinstate': 'Reinstate account',
  'POST /users/:id/sign-in-link': 'Create sign-in link',
  'POST /users/:id/keys': 'Create API key',
  'PUT /users/:id/keys/:key_id': 'Update API key',
  'DELETE /users/:id/keys/:key_id': 'Delete API key',
  'POST /plans': 'Create plan',
  'PUT /plans/:id': 'Update plan',
  'DELETE /plans/:id': 'Delete plan',
  'POST /credits/grant': 'Grant credits',
  'POST /credits/adjust': 'Adjust balance',
  'POST /providers': 'Add provider',
  'PUT /providers/:id': 'Update provider',
  'DELETE /providers/:id': 'Delete provider',
  'POST /models': 'Add model',
  'PUT /models/:id': 'Update model',
  'PUT /models/:id/prices': 'Set model price',
  'DELETE /models/:id': 'Delete model',
  'POST /catalog/preview': 'Preview catalog update',
  'POST /catalog/apply': 'Apply catalog update',
  'POST /connections': 'Add connection',
  'PUT /connections/:id': 'Update connection',
  'DELETE /connections/:id': 'Delete connection',
  'POST /connections/:id/test': 'Test connection',
  'POST /connections/:id/update-key': 'Replace connection key',
  'POST /collections': 'Create collection',
  'PUT /collections/:id': 'Update collection',
  'DELETE /collections/:id': 'Delete collection',
  'POST /quota-requests/:id/approve': 'Approve quota request',
  'POST /quota-requests/:id/reject': 'Reject quota request',
  'PUT /tickets/:id': 'Update ticket',
  'POST /tickets/:id/comments': 'Reply to ticket',
  'GET /request-logs/:id': 'View request',
  'GET /audit-trail/export': 'Download audit log',
  'POST /audit-destinations': 'Create audit destination',
  'PUT /audit-destinations/:id': 'Update audit destination',
  'DELETE /audit-destinations/:id': 'Delete audit destination',
  'POST /audit-destinations/:id/rotate-secret': 'Rotate key of audit destination',
  'POST /scim-directories': 'Create SCIM directory',
  'PUT /scim-directories/:id': 'Update SCIM directory',
  'DELETE /scim-directories/:id': 'Delete SCIM directory',
  'POST /scim-directories/:id/token': 'Replace token of SCIM directory',
  'POST /legal-holds': 'Set legal hold',
  'POST /legal-holds/:id/end': 'End legal hold',
}

interface Action {
  method: string
  route: string
}

/** Method and route, without the common prefix. */
export const routeOf = ({ method, route }: Action): string =>
  `${method} ${route.replace('/api/admin', '')}`

/** Names the action of a change: “Grant credits”; method and route where it has no name. */
export const actionOf = (action: Action): string => actionNames[routeOf(action)] ?? routeOf(action)
