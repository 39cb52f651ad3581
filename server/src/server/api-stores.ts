import type { Logger } from 'pino'
import type { GatewayServices } from './gateway'
import type { Notices } from './notices'
import type { PaymentServices } from './payments'
import { createAuditStores } from './audit-destinations'
import { createDestinationStores } from './destinations'
import { createPublicStores } from './public-api'
import { readOauthClients } from './sign-in'
import type { Storage } from './storage'
import { createSystemStores } from './system'
import { createCatalogUpdateStore } from '../api/operator/catalog/store'
import { createConfigStore } from '../api/operator/config/store'
import { createViewStore } from '../api/account/billing/view-store'
import { createInvoiceStore } from '../api/account/billing/invoice-store'
import { createBillingStore } from '../api/account/billing/store'
import { createAlertStore } from '../api/account/alerts/store'
import { createOrganizationBudgetStore } from '../api/account/budgets/organization-store'
import { createBudgetStore } from '../api/account/budgets/store'
import { createPlatformConnectionStore } from '../api/operator/connections/store'
import { createPoolStore } from '../api/account/connection-pools/store'
import type { ConnectionPorts } from '../api/account/connections/list-models'
import { createConnectionModelStore } from '../api/account/connections/models'
import { createConnectionStore } from '../api/account/connections/store'
import { createGatewayStore } from '../api/account/gateways/store'
import { createHandleStore } from '../api/account/handles/store'
import { createOwnKeyStore } from '../api/account/keys/store'
import { createCollectionStore } from '../api/account/model-collections/store'
import { createFavoriteStore } from '../api/account/models/favorites'
import { createRatingStore } from '../api/account/models/ratings'
import { createCatalogueStore } from '../api/account/models/store'
import { createPerformanceReader } from '../api/account/models/performance'
import { createMappingStore } from '../api/account/model-mappings/store'
import { createPriceStore } from '../api/operator/models/prices'
import { createModelStore } from '../api/operator/models/store'
import { createNotificationStore } from '../api/account/notifications/store'
import { createMemberStore } from '../api/account/organizations/members'
import { createOperatedOrganizationStore } from '../api/operator/organizations/store'
import { createInvitationStore } from '../api/account/organizations/invitations'
import { createOwnInvitationStore } from '../api/account/organizations/own-invitations'
import { createOrganizationStore } from '../api/account/organizations/store'
import { createOrganizationTrailStore } from '../api/account/organizations/trail'
import { createOrganizationUsageStore } from '../api/account/organizations/usage'
import { createCreditStore } from '../api/operator/credits/store'
import { createAnyInvoiceStore } from '../api/operator/invoices/store'
import { createScimDirectoryStore } from '../api/account/scim-directories/store'
import { createAnyScimDirectoryStore } from '../api/operator/scim-directories/store'
import { createPlanStore } from '../api/operator/plans/store'
import { createProviderStore } from '../api/operator/providers/store'
import { createAccountSettingsStore } from '../api/account/settings/store'
import { createTrailStore } from '../api/operator/audit-log/store'
import { createUserStore } from '../api/operator/users/store'
import { createOperatedRequestLogStore } from '../api/operator/request-logs/store'
import { createInstallationUsageStore } from '../api/operator/billing/store'
import { createRequestLogStore } from '../api/account/request-logs/store'
import type { Catalog } from '../catalog/catalog'
import { documentFetcher } from '../upstream/http/fetch-document'
import type { Config } from '../platform/config/config'
import { createSmtpMailer } from '../platform/mail/smtp'
import { createPromptStore } from '../api/account/prompts/store'
import { createQuotaRequestStore } from '../api/account/quota/request-store'
import { createQuotaStore, type QuotaPorts } from '../api/account/quota/store'
import { createSupportStore } from '../api/operator/support/store'
import { createTicketStore } from '../api/account/support/store'
import { estimateCost } from '../gateway/cost-estimate'
import { toMonth } from '../metering/spending-limits'
import { probe } from '../upstream/probe'
import type { LiveSettings } from '../platform/settings/live-settings'
import { createCountedLink } from '../auth/sign-in/handed-link'
import { inviteOwner } from '../auth/sign-in/link'

interface Dependencies {
  config: Config
  payments: PaymentServices
  log: Logger
  storage: Storage
  catalog: Catalog
  settings: LiveSettings
  notices: Notices
  /** Returns the public address of the service. */
  address: () => string
}

/** Creates the stores that the routes of `/api` read and write. */
export const createApiStores = (dependencies: Dependencies, services: GatewayServices) => ({
  ...operatorStores(dependencies, services),
  ...routingStores(dependencies, services),
  ...catalogueStores(dependencies, services),
  ...accountStores(dependencies, services),
  ...moneyStores(dependencies, services),
  ...createAuditStores(dependencies.storage, services.guarded),
})

function operatorStores(dependencies: Dependencies, services: GatewayServices) {
  const { onCreditAdded, own, egress } = services
  const { storage, catalog, settings, address } = dependencies
  const db = storage.database.query
  const users = createUserStore(db, {
    invite: (user) => inviteOwner(db, user, address()),
    createLink: (user) => createCountedLink(db, user, address()),
    otherRows: services.olderLogs?.rowsOf,
  })
  return {
    config: createConfigStore(settings),
    catalogUpdates: createCatalogUpdateStore({
      db,
      catalog,
      settings,
      fetchDocument: documentFetcher(egress),
    }),
    users,
    personalData: {
      exportOf: users.export,
      emailOf: async (id: string) => (await users.get(id)).email,
      erase: users.erase,
    },
    plans: createPlanStore(db),
    credits: createCreditStore({ db, onCreditAdded }),
    anyInvoices: createAnyInvoiceStore(db),
    providers: createProviderStore(db, catalog),
    ...createSystemStores(dependencies, own),
    models: createModelStore(db, catalog),
    prices: createPriceStore(db, catalog),
    quotaRequests: createQuotaRequestStore(db),
    support: createSupportStore(db),
    trail: createTrailStore(db),
    installationUsage: createInstallationUsageStore(db),
    operatedRequestLogs: createOperatedRequestLogStore({
      db,
      reader: services.logReader,
      waitForLogs: services.logsWritten,
    }),
  }
}

/** Creates the stores of routing. */
function routingStores(
  { storage, catalog, settings, address }: Dependencies,
  services: GatewayServices,
) {
  const { egress, credentials, guarded, lookUps } = services
  const { database, installation } = storage
  const db = database.query
  const connecting: ConnectionPorts = {
    db,
    catalog,
    sealingKeys: installation.sealingKeys,
    listModels: (provider, connection) => probe({ egress, credentials }, { provider, connection }),
  }
  const changed = (ownerId: string) => lookUps.invalidate(ownerId)
  return {
    platformConnections: createPlatformConnectionStore(connecting),
    connections: createConnectionStore({
      ...connecting,
      changed,
      checkAddress: (address, owner) => guarded.check(address, owner),
      timers: () => settings.current.timers,
    }),
    connectionModels: createConnectionModelStore({ db, catalog, settings, changed }),
    gateways: createGatewayStore({ db, address, changed }),
    pools: createPoolStore({ db, catalog, changed }),
    mappings: createMappingStore({
      db,
      checkName: lookUps.checkName,
      preview: lookUps.preview,
      changed,
    }),
    collections: createCollectionStore({
      db,
      knownModelsOf: (asker) =>
        lookUps.knownModelsOf(asker === 'operator' ? undefined : asker.userId),
      changed: async (ownerId) => (ownerId === null ? catalog.refresh() : changed(ownerId)),
    }),
    handles: createHandleStore({ db, catalog, changed: lookUps.invalidateName }),
  }
}

/** Returns the name of the identity provider and how it signs accounts in; null for none. */
function signInProviderOf({ identityProvider, saml }: Dependencies['config']) {
  if (saml) return { name: saml.name, protocol: 'saml' as const }
  return identityProvider ? { name: identityProvider.name, protocol: 'oidc' as const } : null
}

/** Creates the stores of the model catalogue, public and per account. */
function catalogueStores(dependencies: Dependencies, { lookUps }: GatewayServices) {
  const { config, payments, storage, catalog, settings } = dependencies
  const db = storage.database.query
  const { modelsFor, servedBy } = lookUps
  const offered = { db, modelsFor, performance: createPerformanceReader(db) }
  return {
    ...createPublicStores({
      db,
      catalog,
      settings,
      baseUrl: config.baseUrl,
      oauthProviders: Object.keys(readOauthClients(config)),
      identityProvider: signInProviderOf(config),
      takesPayments: payments.processor !== undefined,
      sendsMail: config.mail !== undefined,
      servedBy,
    }),
    catalogue: createCatalogueStore(offered),
    favorites: createFavoriteStore(offered),
    ratings: createRatingStore(offered),
  }
}

/** Creates the stores of accounts and organizations. */
function accountStores(dependencies: Dependencies, services: GatewayServices) {
  const { config, log, storage, catalog, settings, address } = dependencies
  const { lookUps, invalidateKey, logsWritten, logReader } = services
  const db = storage.database.query
  const changed = (ownerId: string) => lookUps.invalidate(ownerId)
  return {
    keys: createOwnKeyStore({ db, onChanged: invalidateKey }),
    accountSettings: createAccountSettingsStore({ db, changed }),
    organizations: createOrganizationStore({ db, catalog, changed }),
    operatedOrganizations: createOperatedOrganizationStore({ db, catalog, changed }),
    scimDirectories: createScimDirectoryStore({ db, address, changed }),
    anyScimDirectories: createAnyScimDirectoryStore({ db, address, changed }),
    members: createMemberStore({ db, catalog, changed }),
    invitations: createInvitationStore({ db, settings, address }),
    ownInvitations: createOwnInvitationStore({ db, changed }),
    organizationUsage: createOrganizationUsageStore(db),
    organizationTrail: createOrganizationTrailStore(db),
    requestLogs: createRequestLogStore({ db, reader: logReader, waitForLogs: logsWritten }),
    alerts: createAlertStore({
      db,
      send: config.mail && createSmtpMailer(config.mail),
      testsPerHour: () => settings.current.rates.alertTestsPerHour,
      onMailFailure: (err) => log.warn({ err }, 'a test of an alert could not be mailed'),
    }),
    notifications: createNotificationStore(db),
    ...createDestinationStores({ storage, egress: services.egress, guarded: services.guarded }),
    prompts: createPromptStore(db),
    tickets: createTicketStore(
      db,
      async (userId, requestId) => (await logReader.find(userId, requestId)) !== undefined,
    ),
  }
}

/** Creates the stores of payments and usage limits. */
function moneyStores(dependencies: Dependencies, services: GatewayServices) {
  const { config, payments, storage, settings, notices } = dependencies
  const { claims } = services
  return {
    invoices: createInvoiceStore(storage.database.query),
    views: createViewStore(storage.database.query),
    billing: createBillingStore({
      db: storage.database.query,
      settings,
      processor: payments.processor,
      baseUrl: config.baseUrl,
      repeat: { claims, timeoutMs: () => settings.current.timers.requestMs },
    }),
    paymentEvents: payments.events,
    budgets: createBudgetStore({
      db: storage.database.query,
      onChanged: (userId) => {
        services.invalidateKeysOf(userId)
        notices.soon([userId])
      },
    }),
    organizationBudgets: createOrganizationBudgetStore({
      db: storage.database.query,
      onChanged: (organizationId, userId) => {
        services.lookUps.invalidate(organizationId)
        notices.soon([userId])
      },
    }),
    quota: createQuotaStore(quotaPorts(dependencies, services)),
  }
}

/** Returns the dependencies of the quota store: the counters of limits, and the prices of requests. */
const quotaPorts = (
  { storage, catalog, settings }: Dependencies,
  { limits, counter, routing }: GatewayServices,
): QuotaPorts => ({
  db: storage.database.query,
  used: (at) => limits.readUse(at),
  monthOf: toMonth,
  price: (request, principal) =>
    estimateCost(request, principal, {
      catalog,
      settings,
      counter,
      routing,
      feeMillionths: () => Math.round(settings.current.platformFeePercent * 10_000),
    }),
  minimumBalance: () => settings.current.minimumBalance,
})
