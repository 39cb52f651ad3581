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
import { createInvitationStore } from '../api/organizations/invitations'
import { createMemberStore } from '../api/organizations/members'
import { createOwnInvitationStore } from '../api/organizations/own-invitations'
import { createOrganizationStore } from '../api/organizations/store'
import { createCreditStore } from '../api/admin-credits/store'
import { createPlanStore } from '../api/admin-plans/store'
import { createProviderStore } from '../api/admin-providers/store'
import { createUserStore } from '../api/admin-users/store'
import type { Catalog } from '../catalog/catalog'
import type { Config } from '../config'
import { probe } from '../routing/probe'
import type { LiveSettings } from '../settings/live-settings'

interface Stored {
  config: Config
  storage: Storage
  catalog: Catalog
  settings: LiveSettings
}

type Opened = Pick<OpenedGateway, 'egress' | 'credentials' | 'guarded' | 'lookUps' | 'creditCame'>

/** What the routes of `/api` read and write. */
export function openStores({ config, storage, catalog, settings }: Stored, opened: Opened) {
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
    invitations: createInvitationStore({ db, settings, baseUrl: config.baseUrl }),
    ownInvitations: createOwnInvitationStore({ db, changed }),
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
  }
}
