import type { GatewayServices } from './gateway'
import type { Storage } from './storage'
import { createTrail } from '../audit-log/operator-trail'
import type { ScimPorts } from '../scim/routes'

/** Creates what the endpoints of SCIM need of the server; `address` is called once it listens. */
export const scimPorts = (
  { database: { query: db } }: Storage,
  { authenticator, lookUps, invalidateKeysOf }: GatewayServices,
  address: () => string,
): ScimPorts => ({
  db,
  authenticator,
  trail: createTrail(db),
  address,
  changed: (userId) => {
    invalidateKeysOf(userId)
    lookUps.invalidate(userId)
  },
})
