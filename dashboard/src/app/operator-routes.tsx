import { createRoute } from '@tanstack/react-router'
import { lazyPage } from './lazy-page'
import { OperatorArea, OperatorStart } from './operator-area'
import { home } from './home-route'
import { toTrailSearch } from '../features/operator/audit-log/queries'
import { toConnectionSearch } from '../features/operator/connections/queries'
import { toInvoiceSearch } from '../features/operator/invoices/queries'
import { toModelSearch } from '../features/operator/models/queries'
import { toOrganizationSearch } from '../features/operator/organizations/queries'
import { toProviderSearch } from '../features/operator/providers/queries'
import { toDecisionSearch } from '../features/operator/quota-requests/queries'
import { toRequestSearch } from '../features/operator/requests/queries'
import { toTicketSearch } from '../features/operator/tickets/queries'
import { toTransactionSearch } from '../features/operator/credits/queries'
import { toUserSearch } from '../features/operator/users/queries'
import { textsIn } from '../url/address'
import { toExplorerSearch } from '../url/explorer'
import { overviewSearch } from '../url/period'
import { pageOf, textOf, type Search } from '../url/search'

/** The open tab of an account page. */
const toAccountSearch = (
  search: Search,
): { tab?: string | undefined; page?: number | undefined } => ({
  tab: textOf(search, 'tab'),
  page: pageOf(search),
})

const operator = createRoute({
  getParentRoute: () => home,
  path: '/operator',
  component: OperatorArea,
})
const start = createRoute({
  getParentRoute: () => operator,
  path: '/',
  component: OperatorStart,
})
const overview = createRoute({
  getParentRoute: () => operator,
  path: '/overview',
  validateSearch: overviewSearch,
  component: lazyPage(
    () => import('../features/operator/overview/overview-page'),
    'OperatorOverviewPage',
  ),
})
const explorer = createRoute({
  getParentRoute: () => operator,
  path: '/explorer',
  validateSearch: toExplorerSearch,
  component: lazyPage(
    () => import('../features/explorer/explorer-page'),
    'InstallationExplorerPage',
  ),
})
const users = createRoute({
  getParentRoute: () => operator,
  path: '/users',
  validateSearch: toUserSearch,
  component: lazyPage(() => import('../features/operator/users/users-page'), 'UsersPage'),
})

const user = createRoute({
  getParentRoute: () => operator,
  path: '/users/$id',
  validateSearch: toAccountSearch,
  component: lazyPage(() => import('../features/operator/users/user-page'), 'UserPage'),
})
const transactions = createRoute({
  getParentRoute: () => operator,
  path: '/transactions',
  validateSearch: toTransactionSearch,
  component: lazyPage(
    () => import('../features/operator/credits/transactions-page'),
    'TransactionsPage',
  ),
})
const invoices = createRoute({
  getParentRoute: () => operator,
  path: '/invoices',
  validateSearch: toInvoiceSearch,
  component: lazyPage(
    () => import('../features/operator/invoices/invoices-page'),
    'AllInvoicesPage',
  ),
})
const plans = createRoute({
  getParentRoute: () => operator,
  path: '/plans',
  component: lazyPage(() => import('../features/operator/plans/plans-page'), 'PlansPage'),
})
const scim = createRoute({
  getParentRoute: () => operator,
  path: '/scim',
  component: lazyPage(() => import('../features/operator/scim/scim-page'), 'ScimPage'),
})
const organizations = createRoute({
  getParentRoute: () => operator,
  path: '/organizations',
  validateSearch: toOrganizationSearch,
  component: lazyPage(
    () => import('../features/operator/organizations/organizations-page'),
    'OperatedOrganizationsPage',
  ),
})
const organization = createRoute({
  getParentRoute: () => operator,
  path: '/organizations/$id',
  validateSearch: toAccountSearch,
  component: lazyPage(
    () => import('../features/operator/organizations/organization-page'),
    'OperatedOrganizationPage',
  ),
})
const tickets = createRoute({
  getParentRoute: () => operator,
  path: '/tickets',
  validateSearch: toTicketSearch,
  component: lazyPage(() => import('../features/operator/tickets/tickets-page'), 'TicketsPage'),
})
const ticket = createRoute({
  getParentRoute: () => operator,
  path: '/tickets/$id',
  component: lazyPage(
    () => import('../features/operator/tickets/ticket-page'),
    'HandledTicketPage',
  ),
})
const quotaRequests = createRoute({
  getParentRoute: () => operator,
  path: '/quota-requests',
  validateSearch: toDecisionSearch,
  component: lazyPage(
    () => import('../features/operator/quota-requests/quota-requests-page'),
    'QuotaRequestsPage',
  ),
})

const requests = createRoute({
  getParentRoute: () => operator,
  path: '/requests',
  validateSearch: toRequestSearch,
  component: lazyPage(() => import('../features/operator/requests/requests-page'), 'RequestsPage'),
})

const system = createRoute({
  getParentRoute: () => operator,
  path: '/system',
  component: lazyPage(() => import('../features/operator/system/system-page'), 'SystemPage'),
})
const providers = createRoute({
  getParentRoute: () => operator,
  path: '/providers',
  validateSearch: toProviderSearch,
  component: lazyPage(
    () => import('../features/operator/providers/providers-page'),
    'ProvidersPage',
  ),
})
const models = createRoute({
  getParentRoute: () => operator,
  path: '/models',
  validateSearch: toModelSearch,
  component: lazyPage(
    () => import('../features/operator/models/models-page'),
    'OperatedModelsPage',
  ),
})
const connections = createRoute({
  getParentRoute: () => operator,
  path: '/connections',
  validateSearch: toConnectionSearch,
  component: lazyPage(
    () => import('../features/operator/connections/connections-page'),
    'PlatformConnectionsPage',
  ),
})
const collections = createRoute({
  getParentRoute: () => operator,
  path: '/collections',
  validateSearch: textsIn('collection'),
  component: lazyPage(
    () => import('../features/operator/collections/collections-page'),
    'SystemCollectionsPage',
  ),
})
const branding = createRoute({
  getParentRoute: () => operator,
  path: '/branding',
  component: lazyPage(() => import('../features/operator/branding/branding-page'), 'BrandingPage'),
})
const config = createRoute({
  getParentRoute: () => operator,
  path: '/config',
  component: lazyPage(() => import('../features/operator/config/config-page'), 'ConfigPage'),
})

const auditTrail = createRoute({
  getParentRoute: () => operator,
  path: '/audit-trail',
  validateSearch: toTrailSearch,
  component: lazyPage(
    () => import('../features/operator/audit-log/audit-log-page'),
    'AuditTrailPage',
  ),
})

const auditDelivery = createRoute({
  getParentRoute: () => operator,
  path: '/audit-delivery',
  component: lazyPage(
    () => import('../features/operator/audit-delivery/audit-delivery-page'),
    'AuditDeliveryPage',
  ),
})

/** The operator routes. */
export const operatorArea = operator.addChildren([
  start,
  overview,
  explorer,
  users,
  user,
  transactions,
  invoices,
  plans,
  scim,
  organizations,
  organization,
  tickets,
  ticket,
  quotaRequests,
  requests,
  system,
  auditDelivery,
  providers,
  models,
  connections,
  collections,
  branding,
  config,
  auditTrail,
])
