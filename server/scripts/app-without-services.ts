import type { Kysely } from 'kysely'
import pino from 'pino'
import { createDatabaseWithoutServer } from './database-without-server'
import { createPoolStore } from '../src/api/account/connection-pools/store'
import { createAlertStore } from '../src/api/account/alerts/store'
import { createOrganizationBudgetStore } from '../src/api/account/budgets/organization-store'
import { createBudgetStore } from '../src/api/account/budgets/store'
import { createPlatformConnectionStore } from '../src/api/operator/connections/store'
import { createConnectionModelStore } from '../src/api/account/connections/models'
import { createConnectionStore } from '../src/api/account/connections/store'
import { createCatalogUpdateStore } from '../src/api/operator/catalog/store'
import { createConfigStore } from '../src/api/operator/config/store'
import { createHandleStore } from '../src/api/account/handles/store'
import { createOwnKeyStore } from '../src/api/account/keys/store'
import { createCollectionStore } from '../src/api/account/model-collections/store'
import { createFavoriteStore } from '../src/api/account/models/favorites'
import { createRatingStore } from '../src/api/account/models/ratings'
import { createCatalogueStore } from '../src/api/account/models/store'
import { createMappingStore } from '../src/api/account/model-mappings/store'
import { createPriceStore } from '../src/api/operator/models/prices'
import { createModelStore } from '../src/api/operator/models/store'
import { createMemberStore } from '../src/api/account/organizations/members'
import { scimPortsOf, scimStoresOf } from './scim-without-services'
import { createOperatedOrganizationStore } from '../src/api/operator/organizations/store'
import { createInvitationStore } from '../src/api/account/organizations/invitations'
import { createOwnInvitationStore } from '../src/api/account/organizations/own-invitations'
import { createOrganizationStore } from '../src/api/account/organizations/store'
import { createOrganizationTrailStore } from '../src/api/account/organizations/trail'
import { createOrganizationUsageStore } from '../src/api/account/organizations/usage'
import { createAccountSettingsStore } from '../src/api/account/settings/store'
import { createBillingStore } from '../src/api/account/billing/store'
import { createCreditStore } from '../src/api/operator/credits/store'
import { createAnyInvoiceStore } from '../src/api/operator/invoices/store'
import { createPlanStore } from '../src/api/operator/plans/store'
import { createProviderStore } from '../src/api/operator/providers/store'
import { createOperatedRequestLogStore } from '../src/api/operator/request-logs/store'
import { createLogReader } from '../src/api/account/request-logs/log-reader'
import { createRequestLogStore } from '../src/api/account/request-logs/store'
import { createUserStore } from '../src/api/operator/users/store'
import { createAuditStores } from './audit-stores'
import { createDestinationStores } from './destination-stores'
import { createPromptStore } from '../src/api/account/prompts/store'
import { createGatewayStore } from '../src/api/account/gateways/store'
import { createQuotaRequestStore } from '../src/api/account/quota/request-store'
import { createQuotaStore } from '../src/api/account/quota/store'
import { createSupportStore } from '../src/api/operator/support/store'
import { createTicketStore } from '../src/api/account/support/store'
import { createApp, type AppPorts } from '../src/server/app/app'
import { ApiKeyCache } from '../src/auth/api-key-cache'
import { createConversationStore } from '../src/automation/conversation'
import { Runs } from '../src/automation/message-runs'
import { createSessionStore } from '../src/automation/sessions'
import { createTemplateStore } from '../src/automation/templates'
import { Catalog } from '../src/catalog/catalog'
import { readConfig } from '../src/platform/config/config'
import type { Schema } from '../src/platform/db/schema'
import type { SealingKeys } from '../src/platform/db/sealed'
import { StreamWatch } from '../src/http/event-stream'
import { BackgroundStore } from '../src/stored-responses/background-store'
import { StoredConversations } from '../src/stored-responses/conversations'
import { ResponseStore } from '../src/stored-responses/store'
import { BackgroundRuns } from '../src/v1/background'
import { createGuards } from '../src/http/guards'
import { Claims } from '../src/idempotency/claims'
import { createClaimStore } from '../src/idempotency/store'
import { toMonth } from '../src/metering/spending-limits'
import { AddressRate } from '../src/limits/address-rate'
import { Authenticator } from '../src/auth/authenticator'
import { FailedAuthentications } from '../src/limits/failed-authentications'
import { RateLimits } from '../src/limits/limits'
import { MemoryCounters } from '../src/limits/memory-counters'
import { configRowIn } from '../src/platform/settings/config-row'
import { LiveSettings } from '../src/platform/settings/live-settings'
import { defaultSettings } from '../src/platform/settings/stored-settings'
import { createViewStore } from '../src/api/account/billing/view-store'
import { createInvoiceStore } from '../src/api/account/billing/invoice-store'
import { createPublicStores } from '../src/server/public-api'
import { createInstallationUsageStore } from '../src/api/operator/billing/store'
import { createLedgerAuditStore } from '../src/api/operator/system/ledger-audit'
import { createSystemStore } from '../src/api/operator/system/store'
import { UnknownKeyLimiter } from '../src/limits/unknown-key-limiter'

const never = () => Promise.reject(new Error('this gateway only describes itself'))

function closedAuthenticator(): Authenticator {
  const limits = new RateLimits(new MemoryCounters())
  const failures = new FailedAuthentications({ perMinute: () => 1 })
  const keyring = new ApiKeyCache({ lookUp: never })
  const visitors = new AddressRate({ perMinute: () => 1 })
  const lastUse = { note: () => undefined }
  return new Authenticator({
    apiKeys: keyring,
    failures,
    unknownKeys: new UnknownKeyLimiter(),
    limits,
    lastUse,
    anonymousCallers: visitors,
    apiPerMinute: () => 1,
  })
}

const changed = () => undefined

function storesOf(
  db: Kysely<Schema>,
  catalog: Catalog,
  settings: LiveSettings,
): AppPorts['stores'] {
  const sealingKeys: SealingKeys = [{ id: 'none', key: Buffer.alloc(32) }]
  const timers = () => settings.current.timers
  const connecting = { db, catalog, sealingKeys, listModels: never, timers }
  return {
    ...createPublicStores({
      db,
      catalog,
      settings,
      baseUrl: undefined,
      oauthProviders: [],
      identityProvider: null,
      takesPayments: false,
      sendsMail: false,
      servedBy: never,
    }),
    ...moneyStoresOf(db, settings),
    config: createConfigStore(settings),
    catalogUpdates: createCatalogUpdateStore({ db, catalog, settings, fetchDocument: never }),
    ...createAuditStores(db, sealingKeys),
    users: createUserStore(db),
    keys: createOwnKeyStore({ db, onChanged: changed }),
    catalogue: createCatalogueStore({ db, modelsFor: never, performance: never }),
    favorites: createFavoriteStore({ db, modelsFor: never, performance: never }),
    ratings: createRatingStore({ db, modelsFor: never, performance: never }),
    credits: createCreditStore({ db, onCreditAdded: never }),
    providers: createProviderStore(db, catalog),
    ...systemStoresOf(db),
    models: createModelStore(db, catalog),
    prices: createPriceStore(db, catalog),
    platformConnections: createPlatformConnectionStore(connecting),
    connections: createConnectionStore({ ...connecting, checkAddress: never, changed }),
    connectionModels: createConnectionModelStore({ db, catalog, settings, changed }),
    gateways: createGatewayStore({ db, address: () => '', changed }),
    pools: createPoolStore({ db, catalog, changed }),
    operatedOrganizations: createOperatedOrganizationStore({ db, catalog, changed }),
    organizations: createOrganizationStore({ db, catalog, changed }),
    members: createMemberStore({ db, catalog, changed }),
    organizationUsage: createOrganizationUsageStore(db),
    organizationTrail: createOrganizationTrailStore(db),
    invitations: createInvitationStore({ db, settings, address: () => '' }),
    ownInvitations: createOwnInvitationStore({ db, changed }),
    mappings: createMappingStore({ db, checkName: never, preview: never, changed }),
    collections: createCollectionStore({ db, knownModelsOf: never, changed: never }),
    handles: createHandleStore({ db, catalog, changed }),
    ...logStoresOf(db),
    accountSettings: createAccountSettingsStore({ db, changed }),
    alerts: createAlertStore({ db, send: undefined, testsPerHour: () => 1, onMailFailure: never }),
    ...createDestinationStores(db, sealingKeys),
    prompts: createPromptStore(db),
    quotaRequests: createQuotaRequestStore(db),
    tickets: createTicketStore(db, never),
    support: createSupportStore(db),
  }
}

function logStoresOf(db: Kysely<Schema>) {
  const logging = { db, reader: createLogReader(db), waitForLogs: never }
  return {
    requestLogs: createRequestLogStore(logging),
    installationUsage: createInstallationUsageStore(db),
    operatedRequestLogs: createOperatedRequestLogStore(logging),
  }
}

const systemStoresOf = (db: Kysely<Schema>) => ({
  ...scimStoresOf(db),
  system: createSystemStore({
    db,
    build: { version: '', commit: null },
    own: () => {
      throw new Error('this gateway has no state')
    },
  }),
  ledgerAudit: createLedgerAuditStore({ db, maxRequestMs: () => 0, onFailure: changed }),
})

const moneyStoresOf = (db: Kysely<Schema>, settings: LiveSettings) => ({
  billing: createBillingStore({
    db,
    settings,
    processor: undefined,
    baseUrl: undefined,
    repeat: { claims: claimsIn(db), timeoutMs: () => 0 },
  }),
  invoices: createInvoiceStore(db),
  anyInvoices: createAnyInvoiceStore(db),
  plans: createPlanStore(db),
  views: createViewStore(db),
  paymentEvents: undefined,
  budgets: createBudgetStore({ db, onChanged: changed }),
  organizationBudgets: createOrganizationBudgetStore({ db, onChanged: changed }),
  quota: createQuotaStore({
    db,
    used: never,
    monthOf: toMonth,
    price: never,
    minimumBalance: () => settings.current.minimumBalance,
  }),
})

const claimsIn = (db: Kysely<Schema>) =>
  new Claims({
    store: createClaimStore(db, (ms) => ms),
    newClaimId: () => '',
    pause: never,
    onError: () => undefined,
  })

const automationOf = (db: Kysely<Schema>): AppPorts['automation'] => ({
  sessions: createSessionStore({ db, checkChat: never }),
  templates: createTemplateStore(db),
  conversations: createConversationStore(db, 1),
  runs: new Runs({ renew: never, everyMs: 1000, closeMs: 0, onError: () => undefined }),
  isUsable: never,
  tools: { of: never, call: never },
  limits: { rounds: 0, calls: 0, cost: 0n, callMs: 0, resultBytes: 0, plainMs: 0, streamMs: 0 },
  onLost: () => undefined,
  logs: {
    begin: () => {
      throw new Error('this gateway only describes itself')
    },
  },
})

/** Nothing of this is ever called: routes are described, not served. */
const gateway: AppPorts['gateway'] = {
  chat: never,
  complete: never,
  embed: never,
  moderate: never,
  rerank: never,
  speak: never,
  transcribe: never,
  translate: never,
  generateImages: never,
  editImages: never,
  varyImages: never,
  converse: never,
  count: never,
}

function standIns(): AppPorts {
  const noRows = { models: [], providers: [], connections: [] }
  const db = createDatabaseWithoutServer()
  const catalog = new Catalog({ fixed: () => noRows, stored: never, onError: () => undefined })
  const settings = new LiveSettings({
    row: configRowIn(db),
    defaults: defaultSettings(readConfig({})),
    onError: () => undefined,
    onDamaged: () => undefined,
  })
  return {
    gateway,
    catalog,
    collectionsFor: never,
    modelsFor: never,
    guards: createGuards({
      authenticator: closedAuthenticator(),
      adminKey: 'nobody',
      sessions: { signedIn: never },
      trail: { record: never },
    }),
    signIn: { answer: never },
    scim: scimPortsOf(db),
    dashboard: never,
    reply: {
      watch: new StreamWatch(readConfig({}).timers),
      claims: claimsIn(db),
      requestMs: 0,
      earlyHeadersMs: 0,
      onBroken: () => undefined,
    },
    responses: {
      store: new ResponseStore(db, () => undefined),
      background: new BackgroundStore(db),
      runs: new BackgroundRuns({ store: new BackgroundStore(db), onError: () => undefined }),
      conversations: new StoredConversations(db, () => undefined),
      mode: 'asked',
    },
    readiness: never,
    stores: storesOf(db, catalog, settings),
    automation: automationOf(db),
    witness: {
      log: pino({ level: 'silent' }),
      logsRequests: false,
      counts: { countAnswer: () => undefined, countError: () => undefined },
    },
  }
}

/** Creates the application with all of its routes and without anything that serves them. */
export const createAppWithoutServices = () => createApp(standIns())
