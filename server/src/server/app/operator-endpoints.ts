import { Hono } from 'hono'
import { brandingRoutes } from '../../api/operator/branding/routes'
import { catalogUpdateRoutes } from '../../api/operator/catalog/routes'
import type { CatalogUpdateStore } from '../../api/operator/catalog/store'
import { configRoutes } from '../../api/operator/config/routes'
import type { ConfigStore } from '../../api/operator/config/store'
import { creditRoutes } from '../../api/operator/credits/routes'
import type { CreditStore } from '../../api/operator/credits/store'
import { anyInvoiceRoutes } from '../../api/operator/invoices/routes'
import type { AnyInvoiceStore } from '../../api/operator/invoices/store'
import { adminModelRoutes, type AdminModelStores } from '../../api/operator/models/routes'
import { systemRoutes } from '../../api/operator/system/routes'
import type { LedgerAuditStore } from '../../api/operator/system/ledger-audit'
import type { SystemStore } from '../../api/operator/system/store'
import { planRoutes } from '../../api/operator/plans/routes'
import type { PlanStore } from '../../api/operator/plans/store'
import { roleRoutes } from '../../api/operator/role/routes'
import { providerRoutes } from '../../api/operator/providers/routes'
import type { ProviderStore } from '../../api/operator/providers/store'
import type { AuditDestinationStore } from '../../api/account/audit-destinations/store'
import { installationAuditDestinationRoutes } from '../../api/operator/audit-destinations/routes'
import { legalHoldRoutes } from '../../api/operator/legal-holds/routes'
import type { LegalHoldStore } from '../../api/operator/legal-holds/store'
import { trailRoutes } from '../../api/operator/audit-log/routes'
import type { TrailStore } from '../../api/operator/audit-log/store'
import { operatedRequestLogRoutes } from '../../api/operator/request-logs/routes'
import type { OperatedRequestLogStore } from '../../api/operator/request-logs/store'
import { installationUsageRoutes } from '../../api/operator/billing/routes'
import type { InstallationUsageStore } from '../../api/operator/billing/store'
import { userRoutes } from '../../api/operator/users/routes'
import type { UserStore } from '../../api/operator/users/store'
import { platformConnectionRoutes } from '../../api/operator/connections/routes'
import type { PlatformConnectionStore } from '../../api/operator/connections/store'
import { systemCollectionRoutes } from '../../api/operator/model-collections/routes'
import type { CollectionStore } from '../../api/account/model-collections/store'
import { operatedOrganizationRoutes } from '../../api/operator/organizations/routes'
import type { OperatedOrganizationStore } from '../../api/operator/organizations/store'
import type { BrandingStore } from '../../platform/settings/branding'
import { quotaRequestRoutes } from '../../api/operator/quota/routes'
import type { QuotaRequestStore } from '../../api/account/quota/request-store'
import { anyScimDirectoryRoutes } from '../../api/operator/scim-directories/routes'
import type { AnyScimDirectoryStore } from '../../api/operator/scim-directories/store'
import { supportRoutes } from '../../api/operator/support/routes'
import type { SupportStore } from '../../api/operator/support/store'
import type { Env } from '../../http/env'
import type { Guards } from '../../http/guards'
import { declarationsOf, mount } from '../../http/mount'
import type { Declaration } from '../../http/route'

export interface OperatorStores extends AdminModelStores {
  config: ConfigStore
  catalogUpdates: CatalogUpdateStore
  branding: BrandingStore
  operatedOrganizations: OperatedOrganizationStore
  users: UserStore
  plans: PlanStore
  credits: CreditStore
  anyInvoices: AnyInvoiceStore
  providers: ProviderStore
  system: SystemStore
  ledgerAudit: LedgerAuditStore
  platformConnections: PlatformConnectionStore
  collections: CollectionStore
  quotaRequests: QuotaRequestStore
  support: SupportStore
  anyScimDirectories: AnyScimDirectoryStore
  trail: TrailStore
  auditDestinations: AuditDestinationStore
  legalHolds: LegalHoldStore
  operatedRequestLogs: OperatedRequestLogStore
  installationUsage: InstallationUsageStore
}

/** `/api/admin`. */
export function operatorEndpoints(stores: OperatorStores, guards: Guards) {
  const endpoints = resourceEndpoints(stores, guards)
  const declarations = (): Declaration[] => declarationsOf(endpoints)
  return endpoints.route('/', mount(guards, roleRoutes(declarations)))
}

const resourceEndpoints = (stores: OperatorStores, guards: Guards) =>
  new Hono<Env>()
    .route('/', mount(guards, configRoutes(stores.config)))
    .route('/', mount(guards, brandingRoutes(stores.branding)))
    .route('/', mount(guards, operatedOrganizationRoutes(stores.operatedOrganizations)))
    .route('/', mount(guards, userRoutes(stores.users)))
    .route('/', mount(guards, planRoutes(stores.plans)))
    .route('/', mount(guards, creditRoutes(stores.credits)))
    .route('/', mount(guards, anyInvoiceRoutes(stores.anyInvoices)))
    .route('/', mount(guards, providerRoutes(stores.providers)))
    .route('/', mount(guards, adminModelRoutes(stores)))
    .route('/', mount(guards, catalogUpdateRoutes(stores.catalogUpdates)))
    .route('/', mount(guards, platformConnectionRoutes(stores.platformConnections)))
    .route('/', mount(guards, systemCollectionRoutes(stores.collections)))
    .route('/', mount(guards, quotaRequestRoutes(stores.quotaRequests)))
    .route('/', mount(guards, anyScimDirectoryRoutes(stores.anyScimDirectories)))
    .route('/', mount(guards, supportRoutes(stores.support)))
    .route('/', mount(guards, trailRoutes(stores.trail)))
    .route('/', mount(guards, installationAuditDestinationRoutes(stores.auditDestinations)))
    .route('/', mount(guards, legalHoldRoutes(stores.legalHolds)))
    .route('/', mount(guards, operatedRequestLogRoutes(stores.operatedRequestLogs)))
    .route('/', mount(guards, installationUsageRoutes(stores.installationUsage)))
    .route('/', mount(guards, systemRoutes(stores)))
