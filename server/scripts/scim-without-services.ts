import type { Kysely } from 'kysely'
import { createScimDirectoryStore } from '../src/api/account/scim-directories/store'
import { createAnyScimDirectoryStore } from '../src/api/operator/scim-directories/store'
import type { Schema } from '../src/platform/db/schema'
import type { ScimPorts } from '../src/scim/routes'

const never = () => Promise.reject(new Error('this gateway only describes itself'))
const ports = { address: () => '', changed: () => undefined }

/** Creates the stores of SCIM directories over a database that is never asked. */
export const scimStoresOf = (db: Kysely<Schema>) => ({
  scimDirectories: createScimDirectoryStore({ db, ...ports }),
  anyScimDirectories: createAnyScimDirectoryStore({ db, ...ports }),
})

/** Creates the dependencies of the endpoints of SCIM, none of which is ever called. */
export const scimPortsOf = (db: Kysely<Schema>): ScimPorts => ({
  db,
  authenticator: { authenticateDirectory: never },
  trail: { record: never },
  ...ports,
})
