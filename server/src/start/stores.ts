import type { Logger } from 'pino'
import type { OpenedGateway } from './gateway'
import type { OpenedPayments } from './payments'
import { openPublicStores } from './public'
import type { Storage } from './storage'
import { createConfigStore } from '../api/admin-config/store'
import { createBillingStore } from '../api/billing/store'
import { createAlertStore } from '../api/alerts/store'
import { createPlatformConnectionStore } from '../api/connections/platform-store'
import { createPoolStore } from '../api/connection-pools/store'
import type { ConnectionPorts } from '../api/connections/ask'
import { createConnectionStore } from '../api/connections/store'
import { createHandleStore } from '../api/handles/store'
import { createOwnKeyStore } from '../api/keys/store'
import { createCollectionStore } from '../api/model-collections/store'
import { createFavoriteStore } from '../api/models/favorites'
import { createRatingStore } from '../api/models/ratings'
import { createCatalogueStore } from '../api/models/store'
import { createMappingStore } from '../api/model-mappings/store'
import { createModelStore } from '../api/admin-models/store'
import { createNotificationStore } from '../api/notifications/store'
import { createMemberStore } from '../api/organizations/members'
import { createOperatedOrganizationStore } from '../api/organizations/admin-store'
import { createOrganizationStore } from '../api/organizations/store'
import { createOrganizationUsageStore } from '../api/organizations/usage'
import { createCreditStore } from '../api/admin-credits/store'
import { createPlanStore } from '../api/admin-plans/store'
import { createProviderStore } from '../api/admin-providers/store'
import { createAccountSettingsStore } from '../api/settings/store'
import { createUserStore } from '../api/admin-users/store'
import { createRequestLogStore } from '../api/request-logs/store'
import type { Catalog } from '../catalog/catalog'
import type { Config } from '../config'
import { smtp } from '../mail/smtp'
import { probe } from '../routing/probe'
import type { LiveSettings } from '../settings/live-settings'

interface Stored {
  config: Config
  payments: OpenedPayments
  log: Logger
  config: Pick<Config, 'baseUrl'>
  storage: Storage
  catalog: Catalog
  settings: LiveSettings
}

type Opened = Pick<
  OpenedGateway,
  'egress' | 'credentials' | 'guarded' | 'lookUps' | 'creditCame' | 'logsWritten' | 'claims'
>

/** What the routes of `/api` read and write. */
export function openStores(stored: Stored, opened: Opened) {
  const { config, log, payments, storage, catalog, settings } = stored
  const { egress, credentials, guarded, lookUps, creditCame, claims } = opened
  'egress' | 'credentials' | 'guarded' | 'lookUps' | 'creditCame' | 'forgetKey'
>

/** What the routes of `/api` read and write. */
export function openStores({ config, storage, catalog, settings }: Stored, opened: Opened) {
  const { egress, credentials, guarded, lookUps, creditCame, forgetKey } = opened
  const { database, installation } = storage
  const db = database.query
  const connecting: ConnectionPorts = {
    db,
    catalog,
    sealingKeys: installation.sealingKeys,
    ask: (provider, connection) => probe({ egress, credentials }, { provider, connection }),
  }
  const offered = { db, modelsFor: lookUps.modelsFor }
  const changed = (ownerId: string) => lookUps.forget(ownerId)
  const { baseUrl } = config
  const { servedBy } = lookUps
  return {
    ...openPublicStores({ db, catalog, settings, baseUrl, servedBy }),
    config: createConfigStore(settings),
    users: createUserStore(db),
    keys: createOwnKeyStore({ db, forgotten: forgetKey }),
    catalogue: createCatalogueStore(offered),
    favorites: createFavoriteStore(offered),
    ratings: createRatingStore(offered),
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
    operatedOrganizations: createOperatedOrganizationStore({ db, catalog, changed }),
    organizations: createOrganizationStore({ db, catalog, changed }),
    members: createMemberStore({ db, catalog, changed }),
    organizationUsage: createOrganizationUsageStore(db),
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
    requestLogs: createRequestLogStore({ db, written: opened.logsWritten }),
    accountSettings: createAccountSettingsStore({ db, changed }),
    handles: createHandleStore({ db, catalog, changed: lookUps.forgetName }),
    billing: createBillingStore({
      db,
      settings,
      processor: payments.processor,
      baseUrl: config.baseUrl,
      repeat: { claims, patienceMs: () => settings.current.timers.requestMs },
    }),
    paymentEvents: payments.events,
    alerts: createAlertStore({
      db,
      send: config.mail && smtp(config.mail),
      testsPerHour: () => settings.current.rates.alertTestsPerHour,
      onMailFailure: (err) => log.warn({ err }, 'a test of an alert could not be mailed'),
    }),
    notifications: createNotificationStore(db),
  }
}
