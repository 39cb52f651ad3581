import type { QueryClient } from '@tanstack/react-query'
import { createRoute, createRouter, redirect } from '@tanstack/react-router'
import { toAlertSearch } from '../features/alerts/queries'
import { Loading } from '../components/loading'
import { lazyPage } from './lazy-page'
import { PageError } from './page-error'
import { home, root } from './home-route'
import { toExplorerSearch } from '../url/explorer'
import { billingSearch, overviewSearch, quotaSearch, usageSearch } from '../url/period'
import { toInboxSearch } from '../features/inbox/queries'
import { toLogSearch } from '../features/logs/queries'
import { toModelIds, toModelSearch } from '../features/models/queries'
import { textsIn } from '../url/address'
import { invoicePage } from '../features/billing/invoice-queries'
import { entryArea } from './entry-routes'
import { operatorArea } from './operator-routes'
import { toTicketSearch } from '../features/support/queries'

/** All other pages require a session. */
const overview = createRoute({
  getParentRoute: () => home,
  path: '/',
  validateSearch: overviewSearch,
  component: lazyPage(() => import('../features/overview/overview-page'), 'OverviewPage'),
})
const billing = createRoute({
  getParentRoute: () => home,
  path: '/billing',
  validateSearch: billingSearch,
  component: lazyPage(() => import('../features/billing/billing-page'), 'BillingPage'),
})
/** The link of mails: leads through the sign-in to the page of an invoice, which is not one of the dashboard's. */
const invoice = createRoute({
  getParentRoute: () => home,
  path: '/invoices/$id',
  beforeLoad: ({ params }) => {
    throw redirect({ href: invoicePage(params.id), reloadDocument: true, replace: true })
  },
})
const usage = createRoute({
  getParentRoute: () => home,
  path: '/usage',
  validateSearch: usageSearch,
  component: lazyPage(() => import('../features/usage/usage-page'), 'UsagePage'),
})
const explorer = createRoute({
  getParentRoute: () => home,
  path: '/explorer',
  validateSearch: toExplorerSearch,
  component: lazyPage(() => import('../features/explorer/explorer-page'), 'ExplorerPage'),
})
const quota = createRoute({
  getParentRoute: () => home,
  path: '/quota',
  validateSearch: quotaSearch,
  component: lazyPage(() => import('../features/quota/quota-page'), 'QuotaPage'),
})
const budgets = createRoute({
  getParentRoute: () => home,
  path: '/budgets',
  component: lazyPage(() => import('../features/budgets/budgets-page'), 'BudgetsPage'),
})
const connections = createRoute({
  getParentRoute: () => home,
  path: '/connections',
  component: lazyPage(() => import('../features/connections/connections-page'), 'ConnectionsPage'),
})
const connection = createRoute({
  getParentRoute: () => home,
  path: '/connections/$id',
  component: lazyPage(() => import('../features/connections/connection-page'), 'ConnectionPage'),
})
const pools = createRoute({
  getParentRoute: () => home,
  path: '/pools',
  component: lazyPage(() => import('../features/connections/pools-page'), 'PoolsPage'),
})
const gateways = createRoute({
  getParentRoute: () => home,
  path: '/gateways',
  component: lazyPage(() => import('../features/gateways/gateways-page'), 'GatewaysPage'),
})
const gateway = createRoute({
  getParentRoute: () => home,
  path: '/gateways/$id',
  component: lazyPage(() => import('../features/gateways/gateway-page'), 'GatewayPage'),
})
const models = createRoute({
  getParentRoute: () => home,
  path: '/models',
  validateSearch: toModelSearch,
  component: lazyPage(() => import('../features/models/models-page'), 'ModelsPage'),
})
const compareModels = createRoute({
  getParentRoute: () => home,
  path: '/models/compare',
  validateSearch: (search) => ({ models: toModelIds(search['models']) }),
  component: lazyPage(() => import('../features/models/compare-page'), 'ComparePage'),
})
const collections = createRoute({
  getParentRoute: () => home,
  path: '/collections',
  validateSearch: textsIn('collection'),
  component: lazyPage(() => import('../features/collections/collections-page'), 'CollectionsPage'),
})
const keys = createRoute({
  getParentRoute: () => home,
  path: '/keys',
  component: lazyPage(() => import('../features/keys/keys-page'), 'KeysPage'),
})
const prompts = createRoute({
  getParentRoute: () => home,
  path: '/prompts',
  validateSearch: textsIn('prompt', 'search', 'category', 'tag', 'favorites'),
  component: lazyPage(() => import('../features/prompts/prompts-page'), 'PromptsPage'),
})
const organizations = createRoute({
  getParentRoute: () => home,
  path: '/organizations',
  component: lazyPage(
    () => import('../features/organizations/organizations-page'),
    'OrganizationsPage',
  ),
})
const organization = createRoute({
  getParentRoute: () => home,
  path: '/organizations/$id',
  validateSearch: textsIn('tab', 'by', 'period', 'who', 'kind', 'from', 'to'),
  component: lazyPage(
    () => import('../features/organizations/organization-page'),
    'OrganizationPage',
  ),
})
const playground = createRoute({
  getParentRoute: () => home,
  path: '/playground',
  validateSearch: textsIn('kind', 'model', 'other', 'chat', 'other_chat'),
  component: lazyPage(() => import('../features/playground/playground-page'), 'PlaygroundPage'),
})
const sessions = createRoute({
  getParentRoute: () => home,
  path: '/sessions',
  validateSearch: textsIn('status', 'open'),
  component: lazyPage(() => import('../features/automation/sessions-page'), 'SessionsPage'),
})
const session = createRoute({
  getParentRoute: () => home,
  path: '/sessions/$id',
  component: lazyPage(() => import('../features/automation/session-page'), 'SessionPage'),
})
const templates = createRoute({
  getParentRoute: () => home,
  path: '/templates',
  component: lazyPage(() => import('../features/automation/templates-page'), 'TemplatesPage'),
})
const settings = createRoute({
  getParentRoute: () => home,
  path: '/settings',
  component: lazyPage(() => import('../features/settings/settings-page'), 'SettingsPage'),
})
const mappings = createRoute({
  getParentRoute: () => home,
  path: '/mappings',
  component: lazyPage(() => import('../features/mappings/mappings-page'), 'MappingsPage'),
})
const logs = createRoute({
  getParentRoute: () => home,
  path: '/logs',
  validateSearch: toLogSearch,
  component: lazyPage(() => import('../features/logs/logs-page'), 'LogsPage'),
})
const alerts = createRoute({
  getParentRoute: () => home,
  path: '/alerts',
  validateSearch: toAlertSearch,
  component: lazyPage(() => import('../features/alerts/alerts-page'), 'AlertsPage'),
})
/** The target of a notification's link. */
const alert = createRoute({
  getParentRoute: () => home,
  path: '/alerts/$id',
  beforeLoad: ({ params }) => {
    throw redirect({ to: '/alerts', search: { open: params.id }, replace: true })
  },
})
const inbox = createRoute({
  getParentRoute: () => home,
  path: '/inbox',
  validateSearch: toInboxSearch,
  component: lazyPage(() => import('../features/inbox/inbox-page'), 'InboxPage'),
})
const support = createRoute({
  getParentRoute: () => home,
  path: '/support',
  validateSearch: toTicketSearch,
  component: lazyPage(() => import('../features/support/support-page'), 'SupportPage'),
})
const ticket = createRoute({
  getParentRoute: () => home,
  path: '/support/$id',
  component: lazyPage(() => import('../features/support/ticket-page'), 'TicketPage'),
})
const security = createRoute({
  getParentRoute: () => home,
  path: '/settings/security',
  component: lazyPage(() => import('../features/settings/security-page'), 'SecurityPage'),
})

const routeTree = root.addChildren([
  entryArea,
  home.addChildren([
    overview,
    billing,
    invoice,
    usage,
    explorer,
    quota,
    budgets,
    connections,
    connection,
    pools,
    gateways,
    gateway,
    organizations,
    mappings,
    logs,
    alerts,
    alert,
    inbox,
    support,
    ticket,
    models,
    compareModels,
    collections,
    keys,
    prompts,
    security,
    organization,
    playground,
    sessions,
    session,
    templates,
    settings,
    operatorArea,
  ]),
])

/** Creates the router with all pages. */
export const createAppRouter = (queries: QueryClient) =>
  createRouter({
    routeTree,
    context: { queries },
    defaultPreload: 'intent',
    defaultPendingComponent: Loading,
    defaultErrorComponent: PageError,
    scrollRestoration: true,
  })

declare module '@tanstack/react-router' {
  interface Register {
    router: ReturnType<typeof createAppRouter>
  }
  interface HistoryState {
    /** The initial message of the playground. */
    message?: string
  }
}
