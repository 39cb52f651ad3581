import type { OpenedGateway } from './gateway'
import type { Storage } from './storage'
import { createConfigStore } from '../api/admin-config/store'
import { createPlatformConnectionStore } from '../api/connections/platform-store'
import { createPoolStore } from '../api/connection-pools/store'
import type { ConnectionPorts } from '../api/connections/ask'
import { createConnectionStore } from '../api/connections/store'
import { createHandleStore } from '../api/handles/store'
import { createCollectionStore } from '../api/model-collections/store'
import { createMappingStore } from '../api/model-mappings/store'
import { createModelStore } from '../api/admin-models/store'
import { createMemberStore } from '../api/organizations/members'
import { createOrganizationStore } from '../api/organizations/store'
import { createCreditStore } from '../api/admin-credits/store'
import { createPlanStore } from '../api/admin-plans/store'
import { createProviderStore } from '../api/admin-providers/store'
import { createUserStore } from '../api/admin-users/store'
import { createPromptStore } from '../api/prompts/store'
import { createQuotaRequestStore } from '../api/quota/request-store'
import { createQuotaStore, type QuotaPorts } from '../api/quota/store'
import { createSupportStore } from '../api/support/admin-store'
import { createTicketStore } from '../api/support/store'
import type { Catalog } from '../catalog/catalog'
import { estimateCost } from '../gateway/cost-estimate'
import { monthOf } from '../metering/months'
import { probe } from '../routing/probe'
import type { LiveSettings } from '../settings/live-settings'

interface Stored {
  storage: Storage
  catalog: Catalog
  settings: LiveSettings
}

type Opened = Pick<
  OpenedGateway,
  'egress' | 'credentials' | 'guarded' | 'lookUps' | 'creditCame' | 'limits' | 'counter' | 'routing'
>

/** What the routes of `/api` read and write. */
export function openStores({ storage, catalog, settings }: Stored, opened: Opened) {
  const { egress, credentials, guarded, lookUps, creditCame } = opened
  const { database, installation } = storage
  const db = database.query
  const connecting: ConnectionPorts = {
    db,
    catalog,
    sealingKeys: installation.sealingKeys,
    ask: (provider, connection) => probe({ egress, credentials }, { provider, connection }),
  }
  const changed = (ownerId: string) => lookUps.forget(ownerId)
  return {
    config: createConfigStore(settings),
    users: createUserStore(db),
    plans: createPlanStore(db),
    credits: createCreditStore({ db, creditCame }),
    providers: createProviderStore(db, catalog),
    models: createModelStore(db, catalog),
    platformConnections: createPlatformConnectionStore(connecting),
    connections: createConnectionStore({
      ...connecting,
      changed,
      checkAddress: (address, owner) => guarded.check(address, owner),
    }),
    pools: createPoolStore({ db, catalog, changed }),
    organizations: createOrganizationStore({ db, catalog, changed }),
    members: createMemberStore({ db, catalog, changed }),
    mappings: createMappingStore({
      db,
      checkName: lookUps.checkName,
      preview: lookUps.preview,
      changed,
    }),
    collections: createCollectionStore({
      db,
      knownTo: (asker) => lookUps.knownTo(asker === 'operator' ? undefined : asker.userId),
      changed: async (ownerId) => (ownerId === null ? catalog.refresh() : changed(ownerId)),
    }),
    handles: createHandleStore({ db, catalog, changed: lookUps.forgetName }),
    prompts: createPromptStore(db),
    quota: createQuotaStore(quotaPorts({ storage, catalog, settings }, opened)),
    quotaRequests: createQuotaRequestStore(db),
    tickets: createTicketStore(db),
    support: createSupportStore(db),
  }
}

/** What limits are counted by, and what requests are priced with. */
const quotaPorts = (
  { storage, catalog, settings }: Stored,
  { limits, counter, routing }: Opened,
): QuotaPorts => ({
  db: storage.database.query,
  used: (at) => limits.used(at),
  monthOf,
  price: (asked, principal) =>
    estimateCost(asked, principal, {
      catalog,
      settings,
      counter,
      routing,
      feeMillionths: () => Math.round(settings.current.platformFeePercent * 10_000),
    }),
  minimumBalance: () => settings.current.minimumBalance,
})
