import type { Kysely } from 'kysely'
import {
  createAuditDestinationStore,
  forManagers,
} from '../src/api/account/audit-destinations/store'
import { createTrailStore } from '../src/api/operator/audit-log/store'
import { createLegalHoldStore } from '../src/api/operator/legal-holds/store'
import type { Schema } from '../src/platform/db/schema'
import type { SealingKeys } from '../src/platform/db/sealed'

const never = () => Promise.reject(new Error('this gateway only describes itself'))

/** Creates the stores of audit logs and of the data of accounts, of a gateway that only describes itself. */
export function createAuditStores(db: Kysely<Schema>, sealingKeys: SealingKeys) {
  const auditDestinations = createAuditDestinationStore({ db, sealingKeys, checkAddress: never })
  return {
    personalData: { exportOf: never, emailOf: never, erase: never },
    auditDestinations,
    organizationAuditDestinations: forManagers(db, auditDestinations),
    legalHolds: createLegalHoldStore(db),
    trail: createTrailStore(db),
  }
}
